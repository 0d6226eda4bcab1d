"""The fork server of a run of Snakemake, and the prefix that lets its jobs use it (standard library only)."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "GOTO", "OPENBLAS", "MKL", "NUMEXPR")}
ONE_THREAD["VECLIB_MAXIMUM_THREADS"] = "1"
"""What Snakemake sets for a job of one thread."""
SWITCH = "CARRYOVER_FORK"
"""Environment variable: 0 starts a Python for every job, as where there is no fork server."""


class ForkServer:
    """Started and stopped with Snakemake. Jobs that run elsewhere, or in another environment, do without it."""

    def __init__(self):
        self._process = None

    def start(self, sweep):
        """Start a server for the jobs of a `Sweep`; the prefix of their shells, which makes of `python` its client.

        Nothing is started, and the prefix is Snakemake's own, where processes cannot be forked, or should not be.
        """
        usual = "set -euo pipefail; "
        python = shutil.which("python")
        if sys.platform != "linux" or os.environ.get(SWITCH) == "0" or not python:
            return usual
        address = f"{tempfile.mkdtemp(prefix='carryover-')}/socket"
        self._process = subprocess.Popen(
            [python, HERE / "server.py", address], stdin=subprocess.PIPE, env=os.environ | ONE_THREAD, text=True
        )
        jobs = {output: sweep.modules(rule, wildcards) for rule, wildcards, output in sweep.jobs()}
        print(json.dumps(jobs), file=self._process.stdin, flush=True)
        client = shlex.join([python, "-I", "-S", str(HERE / "client.py"), address])
        return f'{usual}python() {{{{ {client} "$@"; }}}}; '

    def stop(self):
        """End the server, which has no jobs any more."""
        if self._process:
            self._process.communicate()
            self._process = None
