"""Processes that have loaded what jobs import, from which jobs are forked: loading takes longer than most jobs work.

`server.py SOCKET` reads {output: modules of its job} as a line of JSON from its input, and ends when that is closed,
with the folder of its socket. A job gets a process that has loaded the installed packages which its own modules import,
and no others: its record says which ones it has loaded. Of the project's own modules nothing is kept, since they may be
edited meanwhile. So a job finds what it would find in a process of its own, but sooner.

Every set of packages has such a process, forked from the one that has loaded most of them. What a set has in common
with another one is loaded before the rest, so that the other's process can be forked from there.
"""

from __future__ import annotations

import gc
import importlib
import json
import multiprocessing
import os
import runpy
import select
import selectors
import shutil
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

SCRIPTS = Path(__file__).resolve().parents[3]
LONGEST = 2**17  # bytes of a request
# What a shell changes in the environment (a prompt, which an activated environment exports, is dropped), and where
# Snakemake puts temporary files.
_PASSING = ("PWD", "OLDPWD", "SHLVL", "_", "PS1", "TMPDIR", "TMP", "TEMP", "TEMPDIR")


class Front:
    """Takes requests, and hands each one to the process that has loaded what it needs."""

    def __init__(self) -> None:
        self._jobs: dict[str, frozenset[str]] = {}
        self._kinds: set[frozenset[str]] = set()
        ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with its:
            _fork(_get_ready, [], its, ours)
        self._ready = {frozenset[str](): ours}

    def serve(self, jobs: dict[str, frozenset[str]], listener: socket.socket, life: int) -> None:
        """Jobs, of which it is told the packages, until the other end of `life` is closed."""
        self._jobs, self._kinds = jobs, set(jobs.values())
        while life not in select.select([listener, life], [], [])[0]:
            client, _ = listener.accept()
            with client, suppress(OSError, ValueError):
                request, streams, *_ = socket.recv_fds(client, LONGEST, 2)
                if (packages := self._needed(json.loads(request))) is None:
                    client.send(b"not here")
                else:
                    socket.send_fds(self._process(packages), [request], [client.fileno(), *streams])
                for stream in streams:
                    os.close(stream)

    def close(self) -> None:
        """Let the processes end."""
        for control in self._ready.values():
            control.close()

    def _needed(self, request: dict[str, Any]) -> frozenset[str] | None:
        """The packages of a job; None for one that is not known, or that is to have another environment."""
        words = request["words"]
        if "--output" not in words or _lasting(request["environment"]) != _lasting(dict(os.environ)):
            return None
        return self._jobs.get(words[words.index("--output") + 1])

    def _process(self, packages: frozenset[str]) -> socket.socket:
        """Where to reach the process that has loaded these packages."""
        if packages not in self._ready:
            shared = max({packages & kind for kind in self._kinds} - {packages}, key=len, default=frozenset())
            if not any(shared <= known <= packages for known in self._ready):
                self._load(shared)
            self._load(packages)
        return self._ready[packages]

    def _load(self, packages: frozenset[str]) -> None:
        nearest = max((known for known in self._ready if known <= packages), key=len)
        ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with its:
            socket.send_fds(self._ready[nearest], [json.dumps(sorted(packages)).encode()], [its.fileno()])
        self._ready[packages] = ours


def _lasting(environment: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name not in _PASSING}


class _Ready:
    """A process that forks jobs, and processes that load more."""

    def __init__(self, control: socket.socket) -> None:
        self._control, self._open = control, True
        self._selector = selectors.DefaultSelector()
        self._watch(control, self._told)

    def run(self) -> None:
        """Do as told until the other end of `control` is closed; jobs then run to their end."""
        while self._open:
            for key, _ in self._selector.select():
                if key.fd in self._selector.get_map():  # another one may have ended it
                    key.data()

    def _watch(self, file: Any, do: Callable[[], None]) -> None:
        self._selector.register(file, selectors.EVENT_READ, do)

    def _told(self) -> None:
        order, passed, *_ = socket.recv_fds(self._control, LONGEST, 3)
        if not order:
            self._open = False
        elif len(passed) == 1:
            with socket.socket(fileno=passed[0]) as control:
                _fork(_get_ready, json.loads(order), control)
        else:
            self._start(json.loads(order), socket.socket(fileno=passed[0]), passed[1:])

    def _start(self, request: dict[str, Any], client: socket.socket, streams: list[int]) -> None:
        """Fork a job, and tell the client how it ended; end it where the client ends."""
        job = _fork(_job, request, streams)
        for stream in streams:
            os.close(stream)

        def gone() -> None:
            self._selector.unregister(client)
            job.terminate()

        def ended() -> None:
            self._selector.unregister(job.sentinel)
            with suppress(KeyError):
                self._selector.unregister(client)
            job.join()
            with client, suppress(OSError):
                client.send(str(job.exitcode).encode())
            job.close()

        self._watch(client, gone)
        self._watch(job.sentinel, ended)


def _fork(target: Callable[..., None], *arguments: Any) -> BaseProcess:
    process = multiprocessing.get_context("fork").Process(target=target, args=arguments)
    process.start()
    return process


def _get_ready(packages: list[str], control: socket.socket, *others: socket.socket) -> None:
    for other in others:  # nobody but the one who tells is to hold the other end
        other.close()
    for name in [name for name in sys.modules if name.partition(".")[0] == "carryover"]:
        del sys.modules[name]
    for name in packages:
        with suppress(ImportError):  # it is no module, or the job will say so
            importlib.import_module(name)
    gc.collect()
    gc.freeze()  # what is here is shared with the jobs as long as nobody touches it
    _Ready(control).run()


def _job(request: dict[str, Any], streams: list[int]) -> None:
    """What `python SCRIPT …` does."""
    script, *_ = words = request["words"]
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until the job itself sees to it
    for stream, place in zip(streams, (1, 2), strict=True):
        os.dup2(stream, place)
    sys.stdout, sys.stderr = (
        open(place, "w", encoding=old.encoding, errors=old.errors, closefd=False)  # noqa: SIM115
        for place, old in ((1, sys.stdout), (2, sys.stderr))
    )
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    del sys.modules["__mp_main__"]  # this file, which is no module of the job
    sys.argv, sys.path[0] = words, str(Path(script).resolve().parent)
    runpy.run_path(script, run_name="__main__")


def main(address: str) -> None:
    sys.path[0] = str(SCRIPTS)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # jobs are interrupted, and this ends with Snakemake
    from carryover.workflow.fork_server.packages import imported

    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(address)
        listener.listen()
        if jobs := json.loads(sys.stdin.readline() or "{}"):  # nothing, where Snakemake has ended already
            front = Front()
            packages = {output: imported(SCRIPTS, tuple(modules)) for output, modules in jobs.items()}
            front.serve(packages, listener, sys.stdin.fileno())
            front.close()
    shutil.rmtree(Path(address).parent)


if __name__ == "__main__":
    main(*sys.argv[1:])
