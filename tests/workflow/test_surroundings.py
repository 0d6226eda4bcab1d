"""What surrounds a run: variables of the environment, other programs, disks, devices and other users."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import netCDF4
import pytest

from toy.small_project import ENVIRONMENT, ROOT

pytestmark = [pytest.mark.extended, pytest.mark.xdist_group("workflow")]

# A user without a name who may read everything, for this Python may lie in root's home, and write nothing of others.
STRANGER = ["setpriv", "--reuid=12345", "--regid=12345", "--clear-groups",
            "--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search"]  # fmt: skip
CURVE, FIGURE = "results/theory/relu_penalty.nc", "results/figures/relu_penalty.png"


def snakemake(project, *words, before=(), **options):
    """`snakemake -q` as a program of its own: {code, what it printed}."""
    command = [*before, sys.executable, "-m", "snakemake", "--cores", "1", *words, "-q", "all"]
    done = subprocess.run(command, cwd=project.folder, capture_output=True, text=True, timeout=120, **options)
    return done.returncode, done.stdout + done.stderr


def test_variables_of_notebooks_hooks_and_shells_do_not_reach_a_job(fresh):
    braces = fresh.folder / "a{b}c"
    braces.mkdir()
    hostile = {"TMPDIR": str(braces), "MPLBACKEND": "module://matplotlib_inline.backend_inline", "PYTHONSAFEPATH": "1",
               "PYTHONWARNINGS": "error", "MATPLOTLIBRC": "nowhere", "GIT_DIR": str(ROOT / ".git")}  # fmt: skip
    code, text = snakemake(fresh, FIGURE, env=ENVIRONMENT | hostile)
    assert code == 0, text
    git = json.loads((fresh.folder / f"{FIGURE}.json").read_text())["git"]
    assert git["commit"] is None
    assert git["reason"]
    by_hand = f"{sys.executable} scripts/curve.py --help >&- 2>&-"
    assert subprocess.run(["bash", "-c", by_hand], cwd=fresh.folder, env=ENVIRONMENT, timeout=60).returncode == 0


def test_a_quiet_run_tells_a_locked_file_from_a_damaged_one_and_from_none(fresh):
    code, text = snakemake(fresh, CURVE, env=ENVIRONMENT)
    assert code == 0, text
    with netCDF4.Dataset(fresh.folder / CURVE, "a"):
        code, text = snakemake(fresh, FIGURE, env=ENVIRONMENT)
    assert code == 1
    assert f"carryover: {FIGURE}: figure: {CURVE} is open for writing in another program, which locks it" in text
    (fresh.folder / CURVE).write_bytes(b"no netCDF" * 1000)
    assert f"{CURVE} is not netCDF, or truncated or damaged" in snakemake(fresh, FIGURE, env=ENVIRONMENT)[1]
    (fresh.folder / "elsewhere").symlink_to("/nowhere/at/all")
    fresh.configure(fresh.config() | {"pathvars": {"results": "elsewhere"}})
    assert "elsewhere is a link to /nowhere/at/all, which leads nowhere." in snakemake(fresh, env=ENVIRONMENT)[1]


def test_an_audit_opens_files_alone_and_ends_with_a_signal(fresh, monkeypatch):
    folder = fresh.folder / "results/theory"
    folder.mkdir(parents=True)
    os.mkfifo(fresh.folder / CURVE)
    os.mkfifo(fresh.folder / f"{CURVE}.json")
    with socket.socket(socket.AF_UNIX) as listener:
        monkeypatch.chdir(folder)  # the address of a socket must be short
        listener.bind("socket")
    (folder / "zeros").symlink_to("/dev/zero")
    assert f"{CURVE}.json is no regular file" in fresh.run_python("scripts/audit.py").stdout
    assert f"{CURVE} is no file, so that no result can take its place" in snakemake(fresh, FIGURE, env=ENVIRONMENT)[1]
    for number in range(20_000):
        (folder / f"many{number}").touch()
    (folder / "large").touch()
    os.truncate(folder / "large", 2**40)  # of holes
    with subprocess.Popen([sys.executable, "scripts/audit.py"], cwd=fresh.folder, env=ENVIRONMENT) as audit:
        try:
            opened = ["ls", "-l", f"/proc/{audit.pid}/fd"]
            while "/large" not in subprocess.run(opened, capture_output=True, text=True).stdout:
                time.sleep(0.05)
            begin = time.monotonic()
            audit.terminate()
            assert audit.wait(60) == 143
            assert time.monotonic() - begin < 4  # two seconds, on a machine with other work
        finally:
            audit.kill()


@pytest.mark.skipif(os.getuid() != 0 or not shutil.which("setpriv"), reason="root alone can be another user")
def test_the_documented_container_works_for_users_whom_it_does_not_know(fresh):
    container = (ROOT / "Dockerfile").read_text()
    variables = dict(re.findall(r"(\w+)=(\S+)", re.search(r"^ENV (.*(?:\\\n.*)*)", container, re.MULTILINE)[1]))
    home = {name: value for name, value in ENVIRONMENT.items() if name not in ("HOME", "USER", "LOGNAME")} | variables
    with tempfile.TemporaryDirectory(dir="/tmp") as there:
        os.chmod(there, 0o755)
        theirs = fresh.copy(Path(there) / "carryover")
        for folder in ("", "results", ".snakemake"):
            (theirs.folder / folder).mkdir(exist_ok=True)
            (theirs.folder / folder).chmod(0o777)
        code, text = snakemake(theirs, FIGURE, before=STRANGER, env=home)
    assert code == 0, text
