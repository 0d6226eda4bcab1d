"""Jobs that are forked from a process that has loaded what they import: the same as in a process of their own."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from carryover.workflow import fork_client, fork_server

MODULE = "carryover/workflow/command_line.py"  # of the project, loaded beforehand
# A script that does what its first word says; before it waits it prints its process number.
SCRIPT = """
import os, sys, time
what = sys.argv[1]
if what == "wait":
    print(os.getpid(), flush=True)
    time.sleep(60)
if what == "loaded":
    print("numpy" in sys.modules, __name__, sys.argv, sys.path[0])
if what == "raise":
    raise RuntimeError("of its own")
sys.exit({"text": "in words", "code": 3}.get(what))
"""


@pytest.fixture
def forks(monkeypatch, tmp_path):
    """A server of a project with one module; its folder for temporaries has a long name."""
    for name, number in fork_server.ONE_THREAD.items():
        monkeypatch.setenv(name, number)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / ("a" * 90)).mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / ("a" * 90)))
    (tmp_path / "script.py").write_text(SCRIPT)
    for folder in ("scripts", "other"):
        (tmp_path / folder / MODULE).parent.mkdir(parents=True)
        for package in (tmp_path / folder / MODULE).parents[:2]:
            (package / "__init__.py").touch()
        (tmp_path / folder / MODULE).write_text(f"NAME = {folder!r}\n")
        (tmp_path / folder / "own.py").write_text("from carryover.workflow import command_line as c; print(c.NAME)\n")
    for module in (fork_client, fork_server):
        shutil.copy(module.__file__, (tmp_path / "scripts" / MODULE).parent)
    monkeypatch.setattr(fork_server, "__file__", str((tmp_path / "scripts" / MODULE).with_name("fork_server.py")))
    one = fork_server.ForkServer()
    prefix = one.start().replace("{{", "{").replace("}}", "}")

    def start(*words, folder=tmp_path):
        """A shell that runs `python` with these words, as Snakemake starts one."""
        command = ["/bin/bash", "-c", prefix + " ".join(("python", *map(str, words)))]
        return subprocess.Popen(command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(*words, **kwargs):
        with start(*words, **kwargs) as job:
            out, err = job.communicate(timeout=60)
        return SimpleNamespace(code=job.returncode, out=out, err=err)

    for _ in range(200):  # it listens a moment after it was started
        if "True" in run("script.py", "loaded").out:
            break
        time.sleep(0.05)
    else:
        raise AssertionError("no job finds its packages loaded")
    yield SimpleNamespace(start=start, run=run, process=one.process)
    one.stop()


def test_a_forked_job_ends_as_it_would_alone_and_with_its_client(forks, tmp_path):
    done = forks.run("script.py", "loaded")
    assert (done.out, done.code, done.err) == (f"True __main__ {['script.py', 'loaded']} {tmp_path}\n", 0, "")
    for what, code, said in (("code", 3, ""), ("text", 1, "in words"), ("raise", 1, "of its own")):
        done = forks.run("script.py", what)
        assert done.code == code
        assert done.err.strip().endswith(said)
    with forks.start("script.py", "wait") as job:
        os.kill(int(job.stdout.readline()), signal.SIGKILL)
        assert job.wait(10) == 128 + signal.SIGKILL
    with forks.start("script.py", "wait") as job:
        process = int(job.stdout.readline())
        subprocess.run(["pkill", "-KILL", "-P", str(job.pid)], check=False)
        job.kill()
        for _ in range(200):
            if not Path(f"/proc/{process}").exists() or "Z" in Path(f"/proc/{process}/stat").read_text().split()[2]:
                break
            time.sleep(0.05)
        else:
            raise AssertionError("the job goes on without its client")
    forks.process.kill()
    forks.process.wait()
    assert forks.run("script.py", "loaded").out.startswith("False __main__")  # by a Python of its own


def test_a_forked_job_has_its_own_modules_as_they_are(forks, tmp_path):
    assert [forks.run(f"{folder}/own.py").out for folder in ("scripts", "other")] == ["scripts\n", "other\n"]
    (tmp_path / "scripts" / MODULE).write_text("NAME = 'edited'\n")
    assert forks.run("scripts/own.py").out == "edited\n"
