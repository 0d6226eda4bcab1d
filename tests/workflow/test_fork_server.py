"""Jobs that are forked from processes that have loaded what they import: the same as in a process of their own."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from carryover.provenance import job_record
from carryover.workflow.fork_server import running

ROOT = Path(__file__).resolve().parents[2]
CURVE = "results/theory/relu_penalty.nc"
WORDS = ["scripts/curve.py", "relu_penalty", "--points", "11", "--wildcards", "curve=relu_penalty", "--output", CURVE]
TEST = "PYTEST_CURRENT_TEST"  # in the environment, and other ones while a fixture is made and while it is used
# A script that does as its first word says; where it is told to wait, it first says who it is.
TOLD = """
import os, sys, time
what = sys.argv[1]
if what == "wait":
    print(os.getpid(), flush=True)
    time.sleep(60)
if what == "loaded":
    print("numpy" in sys.modules, __name__, sys.argv, sys.path[0], os.environ.get("MINE"))
if what == "raise":
    raise RuntimeError("of its own")
sys.exit({"text": "in words", "code": 3}.get(what))
"""


class Sweep:
    """What a fork server asks of one: its jobs."""

    def __init__(self, jobs):
        self._jobs = jobs

    def jobs(self):
        return [("a rule", {"output": output}, output) for output in self._jobs]

    def modules(self, _rule, wildcards):
        return self._jobs[wildcards["output"]]


@pytest.fixture
def forks(monkeypatch, tmp_path):
    """A server for the jobs `told`, `plain` and the curve, whose prefix is that of this test's shells."""
    for name, number in running.ONE_THREAD.items():
        monkeypatch.setenv(name, number)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv(TEST)
    monkeypatch.setenv("PS1", "(.venv) ")  # as where an environment is activated; the shells of jobs have none
    (tmp_path / "told.py").write_text(TOLD)
    one = running.ForkServer()
    prefix = one.start(Sweep({"told": ["curve"], "plain": [], CURVE: ["curve", "carryover.curves.relu_penalty"]}))
    prefix = prefix.replace("{{", "{").replace("}}", "}")

    def start(*words, folder=tmp_path, **environment):
        """A shell that runs `python` with these words, as Snakemake starts one."""
        own = {name: value for name, value in os.environ.items() if name != TEST}
        command = prefix + " ".join(("python", *map(str, words)))
        return subprocess.Popen(
            ["/bin/bash", "-c", command], cwd=folder, env=own | environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def run(*words, **told):
        with start(*words, **told) as job:
            out, err = job.communicate(timeout=60)
        return SimpleNamespace(code=job.returncode, out=out, err=err)

    for _ in range(200):  # it listens a moment after it was started
        if "True" in run("told.py", "loaded", "--output", "told").out:
            break
        time.sleep(0.05)
    else:
        raise AssertionError("no job finds its packages loaded")
    yield SimpleNamespace(start=start, run=run, process=one._process, prefix=prefix)
    one.stop()
    assert one._process is None


def test_a_job_runs_and_ends_as_it_would_alone(forks, tmp_path):
    done = forks.run("told.py", "loaded", "--output", "told", TMPDIR="/tmp", TMP="/tmp")
    words = ["told.py", "loaded", "--output", "told"]
    assert (done.out, done.code, done.err) == (f"True __main__ {words} {tmp_path} None\n", 0, "")
    for what, code, said in (("code", 3, ""), ("text", 1, "in words"), ("raise", 1, "of its own")):
        done = forks.run("told.py", what, "--output", "told")
        assert done.code == code
        assert done.err.strip().endswith(said)
    with forks.start("told.py", "wait", "--output", "told") as job:
        os.kill(int(job.stdout.readline()), signal.SIGKILL)
        assert job.wait(10) == 128 + signal.SIGKILL
    assert forks.run("told.py", "loaded", "--output", "told").code == 0


def test_results_and_records_are_those_of_a_process_of_its_own(forks, tmp_path):
    made = []
    for name, words in (("own", [sys.executable]), ("forked", None)):
        folder = tmp_path / name
        (folder / "results/theory").mkdir(parents=True)
        (folder / "scripts").symlink_to(ROOT / "scripts")
        if words:
            subprocess.run([*words, *WORDS], cwd=folder, check=True, capture_output=True)
        else:
            assert forks.run(*WORDS, folder=folder).code == 0
        record = job_record.read(folder / f"{CURVE}.json")
        made.append(
            ({k: v for k, v in record.items() if k not in ("volatile", "checksum")}, (folder / CURVE).read_bytes())
        )
    assert made[0] == made[1]
    assert made[0][0]["environment"]["versions"].keys() >= {"numpy", "xarray"}


def test_the_server_of_a_snakemake_that_was_killed_leaves_nothing_behind():
    program = (
        "import os, signal; from carryover.workflow.fork_server import running\n"
        "class Sweep:\n    def jobs(self):\n        return [('a rule', {}, 'told')]\n"
        "    def modules(self, *_):\n        return []\n"
        "print(running.ForkServer().start(Sweep()), flush=True)\nos.kill(os.getpid(), signal.SIGKILL)"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT / "scripts")}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == -signal.SIGKILL, done.stderr
    folder = Path(next(word for word in done.stdout.split() if word.endswith("/socket"))).parent
    assert not folder.exists()  # the server has ended: nobody has this output open any more
