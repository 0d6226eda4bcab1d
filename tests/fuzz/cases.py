"""One command in a process of its own, and what it leaves."""

import hashlib
import json
import multiprocessing
import os
import runpy
import signal
import sys
from pathlib import Path

from carryover.provenance import job_record, store

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
LONGEST = 30.0  # seconds


def forks():
    """Processes forked from one that has loaded the libraries; of the project's own modules none."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        ["jsonschema", "matplotlib.pyplot", "netCDF4", "scipy.stats", "torch", "xarray", "yaml"]
    )
    return context


def run(context, folder, words):
    """(exit code, or None for one that hangs, and what it said) of a script's command line in a folder."""
    said = f"{folder}.said"
    process = context.Process(target=_child, args=(str(folder), list(words), said))
    process.start()
    process.join(LONGEST)
    if process.exitcode is None:
        process.kill()
        process.join()
        return None, Path(said).read_text(errors="replace")
    return process.exitcode, Path(said).read_text(errors="replace")


def _child(folder, words, said):
    os.setpgid(0, 0)
    for stream, mode in ((1, os.O_TRUNC), (2, os.O_TRUNC)):
        os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_APPEND | mode), stream)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.chdir(folder)
    sys.argv, sys.path[0] = words, str(SCRIPTS)
    for name in [name for name in sys.modules if name == __name__ or name.startswith("carryover")]:
        del sys.modules[name]  # a job may have loaded nothing that its record does not name
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    runpy.run_path(str(SCRIPTS / words[0]), run_name="__main__")


def state(folder):
    """{file: what it is} of everything in a folder."""
    return {path: state_of(path) for path in sorted(Path(folder).rglob("*"))}


def state_of(path):
    if path.is_symlink() or not path.is_file():
        return oct(os.lstat(path).st_mode)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def left_behind(folder, before):
    """What a command has left that it should not: files that it changed, and new ones without a record that fits."""
    now = state(folder)
    wrong = [f"{path} changed" for path, kind in before.items() if now.get(path) != kind]
    for path in (path for path in now if path not in before and path.is_file() and path.name[-5:] != ".json"):
        try:
            record = json.loads(job_record.record_path(path).read_text())
            listed = {Path(folder, name): made["sha256"] for name, made in record["outputs"].items()}
            if listed.get(path) != store.sha256(path):
                wrong.append(f"{path} is not what its record says")
        except (OSError, ValueError, LookupError) as error:
            wrong.append(f"{path} has no record: {error!r}")
    return wrong


def cleared(folder, before):
    """Take away what a command has made."""
    for path in sorted(set(state(folder)) - set(before), reverse=True):
        path.unlink() if path.is_symlink() or not path.is_dir() else path.rmdir()
