"""Snakemake with a stand-in for the conda program, and a channel of this machine's packages."""

import copy
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from toy.small_project import ENVIRONMENT, ROOT, TINY, Project

HERE = Path(__file__).parent
NEEDED = ["py-rattler==0.28.0", "zstandard==0.25.0"]  # conda's solver and installer, and its packages' compression
# Beside the tiny experiment one that trains with PyTorch and measures with scikit-learn, and a claim.
CONFIG = copy.deepcopy(TINY)
CONFIG["curves"]["relu_penalty"] = {}
CONFIG["claims"] = {"relu_penalty": {"data": {"curve": "theory/relu_penalty"}}}
CONFIG["experiments"]["networks"] = {
    "family": "relu",
    "seeds": 2,
    "task": {"dimension": 4, "width": 8, "auxiliary_features": 2},
    "pretrain": {"samples": 16, "learning_rate": 0.1, "tolerance": 0.1, "max_epochs": 50},
    "finetune": {
        "samples": 8,
        "main_features": 2,
        "unit_correlations": "1 0",
        "grids": {
            "trained": {"protocol": "finetuning", "learning_rate": 0.1, "tolerance": 0.1, "max_epochs": 50},
            "fitted": {"protocol": "finetuning_kernel", "solver": "ridge"},
        },
    },
    "measures": {"risk": {}, "clusters": {"largest_k": 2}},
}


class SmallProject(Project):
    """The small project, for a Snakemake in a process of its own."""

    environment, options = ENVIRONMENT, ()

    def snakemake(self, *arguments, **variables):
        command = [sys.executable, "-m", "snakemake", "--cores", "2", "--nocolor", *self.options, *arguments]
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment | variables, timeout=1200,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        return SimpleNamespace(code=done.returncode, text=done.stdout)


@pytest.fixture(scope="session")
def side():
    """A folder with what the stand-in for conda needs, its channel and the environments; gigabytes, so not kept.

    Skips where the solver cannot be installed, or the environment files ask for another Python than there is here.
    """
    if (sys.platform, platform.machine()) != ("linux", "x86_64") or sys.version_info[:2] != (3, 11):
        pytest.skip("the channel is made for Python 3.11 on Linux and x86-64 only")
    with tempfile.TemporaryDirectory(prefix="conda") as folder:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        packages = f"{folder}/packages"
        installed = subprocess.run([*pip, "--target", packages, *NEEDED], capture_output=True, text=True)
        if installed.returncode:
            pytest.skip(f"{' and '.join(NEEDED)} cannot be installed: {installed.stderr.strip()}")
        script, channel = HERE / "local_channel.py", f"{folder}/channels/conda-forge"
        command = [sys.executable, script, channel, *ROOT.glob("envs/*.yaml")]
        subprocess.run(command, env=ENVIRONMENT | {"PYTHONPATH": packages}, check=True)
        yield Path(folder)


@pytest.fixture
def project(side, tmp_path):
    """The small project, with nothing made yet, whose jobs run in conda environments."""
    project = SmallProject.new(tmp_path / "project", None, CONFIG)
    project.options = ["--sdm", "conda", "--conda-prefix", str(side / "environments")]
    project.environment = ENVIRONMENT | {
        "PATH": f"{HERE / 'stand_in/bin'}{os.pathsep}{ENVIRONMENT['PATH']}",
        "STAND_IN_PYTHON": sys.executable,
        "STAND_IN_PACKAGES": str(side / "packages"),
        "STAND_IN_CHANNELS": str(side / "channels"),
        "RATTLER_CACHE_DIR": str(side / "cache"),
    }
    return project


@pytest.fixture
def local(tmp_path):
    """The small project, made by the Python that runs the tests."""
    project = SmallProject.new(tmp_path / "local", None, CONFIG)
    project.make()
    return project
