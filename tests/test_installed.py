"""The library installs with pip, and its console command works in a folder without the project."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.extended


ROOT = Path(__file__).resolve().parents[1]


def copied(target):
    """A copy of the project: building writes beside the sources."""
    target.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, target)
    for name in ("scripts", "config"):
        shutil.copytree(ROOT / name, target / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    return target


def pip(*words):
    """Run pip install; skips where it cannot get what it builds with."""
    command = [sys.executable, "-m", "pip", *words[:-1], "install", "-q", "--disable-pip-version-check", "--no-deps"]
    done = subprocess.run([*command, *words[-1]], capture_output=True, text=True)
    if done.returncode and "setuptools" in done.stderr and "No matching distribution" in done.stderr:
        pytest.skip("pip finds no setuptools to build with")
    assert done.returncode == 0, done.stderr


def run(command, folder, **variables):
    """A finished process that finds the library only where the variables or its own Python have it."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    told = {"cwd": folder, "env": environment | variables, "capture_output": True, "text": True}
    return subprocess.run(list(map(str, command)), **told)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder into which pip has put the library."""
    target = tmp_path_factory.mktemp("installed")
    pip(["--target", target, copied(tmp_path_factory.mktemp("source") / "carryover")])
    return target


def test_it_is_the_whole_library_and_nothing_else(installed):
    files = {path.relative_to(installed).as_posix() for path in installed.glob("carryover/**/*.py")}
    own = {path.relative_to(ROOT / "scripts").as_posix() for path in (ROOT / "scripts/carryover").rglob("*.py")}
    assert files == own
    assert (installed / "carryover/py.typed").is_file()
    templates = (root / "carryover/templates" for root in (ROOT / "scripts", installed))
    own, there = ({path.name for path in folder.glob("*.*")} for folder in templates)
    assert own == there
    top = {path.name.partition("-")[0] for path in installed.iterdir()} - {"__pycache__"}
    assert top == {"bin", "carryover", "carryover_finetuning"}


def test_its_console_command_diagnoses_and_keeps_a_record(installed, tmp_path):
    for name, scale in (("before", 1.0), ("after", 2.0)):
        np.savez(tmp_path / f"{name}.npz", a=scale * np.random.default_rng(0).standard_normal((400, 8)))
    words = ["diagnose", "--pretrained", "before.npz", "--finetuned", "after.npz", "--output", "report"]
    done = run([sys.executable, installed / "bin/carryover", *words], tmp_path, PYTHONPATH=str(installed))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("1 layer: unchanged in 1 (a). Of the variance before, 100% is kept.\na: unchanged; ")
    record = json.loads((tmp_path / "report/diagnosis.nc.json").read_text())
    assert record["code"]["modules"] == ["carryover.commands.diagnose"]
    assert record["git"]["commit"] is None
