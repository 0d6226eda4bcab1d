"""A record says what was asked and what came out, and never vouches for other bytes."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from carryover.errors import UserError
from carryover.provenance import environment, job_record, store
from toy.small_project import ROOT

SCRIPTS = job_record.SCRIPTS
MODULES = ["carryover.provenance.store"]


def made(value=1.0):
    return xr.Dataset({"w": ("x", np.full(3, value), {"long_name": "made for a test", "units": "1"})})


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store.save(made(), "in.nc")
    return tmp_path


def job(**changes):
    kwargs = {"rule": "finetune", "inputs": ["in.nc"], "outputs": ["out/x.nc"], "modules": MODULES}
    return job_record.Job(**(kwargs | changes))


def done(value=1.0, **changes):
    with job(**changes) as running:
        running.save(made(value))
    return job_record.read("out/x.nc.json")


def files():
    return sorted(str(path) for path in Path().rglob("*") if path.is_file())


def test_request_is_of_what_was_asked_alone(here):
    base = done()["request"]
    assert done(device="cpu")["request"] == base
    others = [{"parameters": {"a": 1}}, {"seeds": [1]}, {"wildcards": {"a": "1"}}, {"modules": ["carryover.errors"]}]
    assert len({base} | {done(**change)["request"] for change in others}) == 5
    store.save(made(7.0), "in.nc")
    assert done()["request"] != base


def tamper(path):
    """Change one bit; size and time stay."""
    stat, data = os.stat(path), bytearray(Path(path).read_bytes())
    data[-1] ^= 1
    Path(path).write_bytes(data)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


@pytest.mark.parametrize("change", [tamper, os.remove])
def test_an_input_that_changes_fails_the_job(here, change):
    before = done()
    running = job()
    running.__enter__()
    running.save(made(2.0))
    change("in.nc")
    with pytest.raises(UserError, match=r"^in\.nc (changed while finetune ran: run it again|is missing)"):
        running.__exit__(None, None, None)
    assert job_record.read("out/x.nc.json") == before
    assert store.sha256("out/x.nc") == before["outputs"]["out/x.nc"]["sha256"]
    assert set(files()) - {"in.nc"} == {"out/x.nc", "out/x.nc.json"}


def test_an_exception_leaves_what_was_there(here):
    done()
    before = {path: Path(path).read_bytes() for path in files()}
    with pytest.raises(KeyboardInterrupt), job(outputs=["out/x.nc", "out/new.nc"]) as running:  # noqa: PT012
        running.save(made(2.0), "out/x.nc")
        raise KeyboardInterrupt
    assert {path: Path(path).read_bytes() for path in files()} == before


def test_a_job_without_its_input_or_an_output_is_refused(here):
    with pytest.raises(UserError, match=r"gone\.nc is missing"), job(inputs=["gone.nc"]):
        pytest.fail("the job ran")
    with (
        pytest.raises(UserError, match=r"did not write its output out/y\.nc"),
        job(outputs=["out/x.nc", "out/y.nc"]) as one,
    ):
        one.save(made(), "out/x.nc")
    assert files() == ["in.nc"]


@pytest.mark.parametrize("output", ["./in.nc", "link.nc"])
def test_an_output_that_is_an_input_is_refused(here, output):
    Path("link.nc").symlink_to("in.nc")
    with pytest.raises(UserError, match=r"in\.nc is an input and an output"), job(outputs=[output]):
        pytest.fail("the job ran")
    assert store.load("in.nc").equals(made())


def test_a_module_that_no_import_names_fails_the_job(here, monkeypatch):
    """As a plug-in that was loaded by a computed name: its edits would rerun nothing."""
    monkeypatch.setattr(sys.modules["__main__"], "__file__", str(SCRIPTS / "finetune.py"), raising=False)
    with pytest.raises(UserError, match=r"^finetune loaded .*\.py, which no import statement names: add it to modules"):
        done(modules=["carryover.errors"])


def test_a_record_promises_no_more_than_its_inputs(here):
    def promised(output, portable, *inputs):
        with job(outputs=[output], inputs=inputs, portable=portable) as running:
            running.save(made())
        return job_record.read(f"{output}.json")["portable"]

    assert promised("a.nc", "bits", "in.nc") == {"job": "bits", "result": "bits"}
    assert promised("b.nc", "distribution") == {"job": "distribution", "result": "distribution"}
    assert promised("c.nc", "bits", "a.nc", "b.nc") == {"job": "bits", "result": "distribution"}


@pytest.mark.skipif(not shutil.which("git"), reason="needs git")
def test_the_commit_is_that_of_the_repository_that_tracks_the_code(tmp_path, monkeypatch):
    def git(*words):
        words = ["git", "-c", "user.name=a", "-c", "user.email=b", "-c", "commit.gpgsign=false", *words]
        return subprocess.run(words, cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    (tmp_path / "site-packages").mkdir()
    (tmp_path / "code").touch()
    assert "not a git repository" in environment.git_state(tmp_path)["reason"]
    git("init")
    git("add", "code")
    git("commit", "-m", "x")
    (tmp_path / "untracked").touch()
    assert environment.git_state(tmp_path) == {"commit": git("rev-parse", "HEAD").strip(), "dirty": False}
    # A release that was unpacked within the repository of something else.
    unpacked = environment.git_state(tmp_path / "site-packages")
    assert unpacked == {"commit": None, "dirty": None, "reason": unpacked["reason"]}
    before = environment.git_state(tmp_path)
    monkeypatch.setenv("GIT_DIR", str(ROOT / ".git"))  # as in a hook of another repository
    assert environment.git_state(tmp_path) == before
    (tmp_path / "code").write_text("x")
    assert environment.git_state(tmp_path)["dirty"] is True


@pytest.mark.parametrize("killed_at", ["out/x.nc", "out/x.nc.json"])
def test_a_job_that_is_killed_between_its_files_leaves_whole_ones_and_no_record_of_others(here, killed_at):
    """The data take their place first, then the record."""
    before = done()
    code = f"""
import os, signal
import numpy as np, xarray as xr
from carryover.provenance import job_record
usual = os.replace
os.replace = lambda file, place: (os.kill(os.getpid(), signal.SIGKILL) if str(place) == {killed_at!r} else 0,
                                  usual(file, place))
with job_record.Job(rule="finetune", inputs=["in.nc"], outputs=["out/x.nc"], modules={MODULES}) as job:
    job.save(xr.Dataset({{"w": ("x", np.full(3, 2.0), {{"long_name": "made for a test", "units": "1"}})}}))
"""
    environment = {**os.environ, "PYTHONPATH": str(SCRIPTS)}
    killed = subprocess.run([sys.executable, "-c", code], env=environment)
    assert killed.returncode == -signal.SIGKILL
    old = killed_at == "out/x.nc"
    assert store.load("out/x.nc")["w"].values.tolist() == [1.0 if old else 2.0] * 3
    assert job_record.read("out/x.nc.json") == before
    assert (store.sha256("out/x.nc") == before["outputs"]["out/x.nc"]["sha256"]) == old
    assert len(files()) > 3  # what it had not finished, which the next one sweeps
    done()
    assert files() == ["in.nc", "out/x.nc", "out/x.nc.json"]
