"""Libraries compute in one thread, as the workflow's jobs do, unless a run of the tests asks for another number.

Temporary folders are in memory where there is room: many small files cost a tenth there of what they cost on disk.
Tests that run Snakemake, make conda environments or want a card are slow; other slow ones say so, module by module.
"""

import fcntl
import os
import shutil
import subprocess
import sys

import pytest

# As on a user's machine; else every process compiles what it imports.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

MEMORY, ROOM = "/dev/shm", 4 * 2**30
if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", MEMORY)

_COLLECTED = pytest.StashKey[set]()
SLOW = ("slow", "workflow", "conda", "gpu")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    for item in items:
        if any(item.get_closest_marker(name) for name in SLOW):
            item.add_marker("slow")
    config.stash[_COLLECTED] = {(item.path, not item.get_closest_marker("slow")) for item in items}


@pytest.fixture(scope="session")
def collected(request):
    """{(file, whether it is fast)} of all tests, those that a mark leaves out as well."""
    return request.config.stash[_COLLECTED]


@pytest.fixture(scope="session")
def finished_project(tmp_path_factory):
    """The small project after one whole run of Snakemake in a process of its own. Never change it.

    Made once for all processes of a run of the tests.
    """
    from toy.small_project import Project

    everyones = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        everyones = everyones.parent
    project, done = everyones / "made", everyones / "made.done"
    with (everyones / "made.lock").open("w") as one_at_a_time:
        fcntl.flock(one_at_a_time, fcntl.LOCK_EX)
        if not done.exists():
            Project.made(project)
            done.touch()
    return Project(project, None)


@pytest.fixture
def ssh_key(tmp_path, monkeypatch):
    """A function of a name and a passphrase that makes an SSH key and gives its file; `.pub` stands beside it."""
    if shutil.which("ssh-keygen") is None:
        pytest.skip("there is no ssh-keygen, which makes signatures (Debian: openssh-client)")
    for name, value in {"SSH_ASKPASS": "/bin/false", "SSH_ASKPASS_REQUIRE": "force"}.items():
        monkeypatch.setenv(name, value)  # nobody is asked for a passphrase, at a terminal neither
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)

    def make(name="key", passphrase=""):
        file = tmp_path / f"keys/{name}"
        file.parent.mkdir(exist_ok=True)
        words = ["-q", "-t", "ed25519", "-N", passphrase, "-C", name, "-f", file]
        subprocess.run(["ssh-keygen", *words], check=True)
        return file

    return make
