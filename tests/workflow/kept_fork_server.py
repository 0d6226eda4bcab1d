"""The fork server's processes, kept from one run of Snakemake to the next: they load the same packages every time.

`kept_fork_server.py SOCKET` serves one run after another, as server.py serves one, until its input is closed. Here a
run finds it: what stands for the `subprocess` of carryover.workflow.fork_server.running is made by `instead`.
"""

import json
import os
import select
import shutil
import socket
import sys
from pathlib import Path
from subprocess import PIPE
from types import SimpleNamespace

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


def instead(address):
    """A `subprocess` whose `Popen` asks the server at `address` to take the place of the one to be started."""
    return SimpleNamespace(Popen=lambda command, **_: Run(address, *command[1:]), PIPE=PIPE)


class Run:
    """Stands for the process of a server, as far as a run uses it."""

    def __init__(self, address, script, own_address):
        told = {"scripts": str(Path(script).parents[3]), "address": own_address}
        self._kept = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._kept.connect(address)
        theirs, ours = os.pipe()
        socket.send_fds(self._kept, [json.dumps(told).encode()], [theirs])
        os.close(theirs)
        self.stdin = open(ours, "w")  # noqa: SIM115

    def communicate(self):
        """Return once nothing is served any more."""
        self.stdin.close()
        with self._kept:
            self._kept.recv(1)


def main(address):
    sys.path[0] = str(SCRIPTS)
    from carryover.workflow.fork_server import packages, running, server

    os.environ.update(running.ONE_THREAD)
    front = server.Front()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(address)
        listener.listen()
        print(flush=True)
        while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
            run, _ = listener.accept()
            with run:
                order, (life,), *_ = socket.recv_fds(run, server.LONGEST, 1)
                told = json.loads(order)
                with open(life) as life, socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as requests:
                    requests.bind(told["address"])
                    requests.listen()
                    for read in (packages.imported, packages._statements):  # of files that may have been edited since
                        read.cache_clear()
                    modules, scripts = json.loads(life.readline()), Path(told["scripts"])
                    jobs = {output: packages.imported(scripts, tuple(modules[output])) for output in modules}
                    front.serve(jobs, requests, life.fileno())
                shutil.rmtree(Path(told["address"]).parent)
    front.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
