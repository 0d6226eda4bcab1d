"""The library installs with pip, and then works where there is no project."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from carryover.config import plugins

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
# In a folder without the project, with the library where pip has put it and nothing else of ours on the path.
USES = """
import sys
import carryover.theory.penalty, carryover.training.exact, carryover.measures.clusters, carryover.diagnosis.diagnosis
from carryover.config import plugins
assert carryover.theory.penalty.__file__.startswith(sys.argv[1]), carryover.theory.penalty.__file__
print(*plugins.names("families"), *plugins.names("measures"), *plugins.names("plotting"))
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder into which pip has put the library; skips where pip cannot get what it builds with."""
    source, target = tmp_path_factory.mktemp("source") / "carryover", tmp_path_factory.mktemp("installed")
    source.mkdir()  # a copy, since building writes beside the sources
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "scripts", source / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps"]
    done = subprocess.run([*pip, "--target", target, source], capture_output=True, text=True)
    if done.returncode and "setuptools" in done.stderr and "No matching distribution" in done.stderr:
        pytest.skip("pip finds no setuptools to build with")
    assert done.returncode == 0, done.stderr
    return target


def test_it_is_the_whole_library_and_nothing_else(installed):
    files = {path.relative_to(installed).as_posix() for path in installed.glob("carryover/**/*.py")}
    own = {path.relative_to(ROOT / "scripts").as_posix() for path in (ROOT / "scripts/carryover").rglob("*.py")}
    assert files == own
    assert (installed / "carryover/py.typed").is_file()
    top = {path.name.partition("-")[0] for path in installed.iterdir()} - {"__pycache__"}
    assert top == {"carryover"}


def test_it_works_in_a_folder_of_its_own(installed, tmp_path):
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment["PYTHONPATH"] = str(installed)
    command = [sys.executable, "-c", USES, str(installed)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [
        name for kind in ("families", "measures", "plotting") for name in plugins.names(kind)
    ]
