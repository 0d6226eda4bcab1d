"""A process that has loaded what jobs import, from which local jobs are forked: loading takes longer than most work.

`fork_server.py FOLDER` serves until its standard input is closed; `fork_client.py FOLDER SCRIPT …` does what `python
SCRIPT …` does, in a fork. Without a server, or in another environment than its own, `python` is started. The project's
own modules are loaded anew where they were edited, or where the script is another project's. Standard library only.
"""

import gc
import marshal
import multiprocessing
import os
import runpy
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress

# Packages that load their parts when these are asked for are named by these parts.
PRELOADED = (
    "torch", "netCDF4", "xarray", "pandas", "scipy.optimize", "scipy.stats", "pydantic.root_model", "pydantic.types",
    "yaml", "threadpoolctl", "matplotlib.pyplot", "carryover.workflow.command_line",
)  # fmt: skip
SCRIPTS, STARTED = os.path.abspath(f"{__file__}/../../.."), time.time()
# What Snakemake sets for a job of one thread, as far as it must be set before libraries are loaded.
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "GOTO", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB")}


class ForkServer:
    """Started and stopped with Snakemake; the environment variable CARRYOVER_FORK=0 switches it off."""

    process: subprocess.Popen | None = None

    def start(self) -> str:
        """Start the server, if the platform allows it, and return the shell code that Snakemake puts before each job's
        commands: with a server it defines `python` as a shell function that calls the client."""
        prefix, python = "set -euo pipefail; ", shutil.which("python")
        if sys.platform != "linux" or os.environ.get("CARRYOVER_FORK") == "0" or not python:
            return prefix
        folder, server = tempfile.mkdtemp(prefix="carryover-"), os.path.abspath(__file__)
        # Without site-packages (-I -S), which the client does not need, Python starts faster.
        client = [python, "-I", "-S", server.replace("fork_server.py", "fork_client.py"), folder]
        words = shlex.join(client).replace("{", "{{").replace("}", "}}")  # Snakemake formats the prefix
        self.process = subprocess.Popen([python, server, folder], stdin=subprocess.PIPE, env=os.environ | ONE_THREAD)
        return f'{prefix}python() {{{{ {words} "$@"; }}}}; '

    def stop(self) -> None:
        if self.process:
            self.process.communicate()


def serve(folder: str) -> None:
    """Take requests in a folder until standard input is closed, and remove the folder."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C interrupts the jobs; the server ends with Snakemake
    os.chdir(folder)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind("socket")
        listener.listen(100)
        sys.path[0] = SCRIPTS
        for name in PRELOADED:
            with suppress(ImportError):
                __import__(name)
        with suppress(ImportError):  # more is loaded when Matplotlib first draws, and threads are first counted
            from matplotlib import figure, rcdefaults
            from threadpoolctl import threadpool_info

            threadpool_info()
            rcdefaults()  # not by LaTeX, or as a user's matplotlibrc may want it
            drawn = figure.Figure()
            drawn.add_subplot()
            drawn.savefig(os.devnull, format="png")
        gc.freeze()  # forked jobs share this memory until somebody writes to it, as the collector would
        while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
            multiprocessing.active_children()  # waits for those that have ended: their time counts as this process's
            with listener.accept()[0] as client:
                multiprocessing.get_context("fork").Process(target=run, args=(client, listener)).start()
    shutil.rmtree(folder, ignore_errors=True)  # jobs that still run are waited for


def _end_with(client: socket.socket) -> None:
    """Wait until the client is gone, and end this job as `kill` would."""
    if not client.recv(1):
        os.kill(os.getpid(), signal.SIGTERM)


def run(client: socket.socket, listener: socket.socket) -> None:
    """In a forked process, do what `python SCRIPT …` does for a client, and send it the exit code. The job is ended if
    the client disappears."""
    listener.close()  # else clients could connect, and wait, after the server has ended
    message, streams, *_ = socket.recv_fds(client, 2**20, 2)
    request = marshal.loads(message)
    if request["environment"].get("PATH") != os.environ.get("PATH"):  # perhaps a conda environment: another `python`
        return  # without an answer, so that the client starts `python` itself
    client.send(b"started")
    threading.Thread(target=_end_with, args=(client,), daemon=True).start()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for stream, place in zip(streams, (1, 2), strict=True):
        os.dup2(stream, place)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.modules.pop("__mp_main__", None)  # this file, which is no module of the job
    sys.argv = request["words"]
    sys.path[0] = os.path.dirname(os.path.realpath(sys.argv[0]))
    # The server has loaded the modules of its own project as they were when it started. If the script is another
    # project's, or a module was edited since, all are imported anew.
    own = [module for name, module in sys.modules.items() if name.partition(".")[0] == "carryover"]
    if sys.path[0] != SCRIPTS or any(os.path.getctime(str(module.__file__)) > STARTED for module in own):
        for module in own:
            del sys.modules[module.__name__]
    code = 1  # as Python ends for an exception, or for `sys.exit` of a text
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
        code = 0
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        else:
            code = end.code or 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    sys.stdout.flush()
    client.send(str(code).encode())
    os._exit(code)


if __name__ == "__main__":
    serve(sys.argv[1])
