"""A small project, run once to its figures; each test works on a copy of the finished folder."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("Snakefile", "rules", "scripts", "config", "envs", "profiles", "docs", "resources")
TINY = {
    "experiments": {
        "tiny": {
            "family": "diagonal",
            "seeds": 3,
            "block": 2,
            "task": {"dimension": 12, "auxiliary_features": 3},
            "pretrain": {"samples": 16, "initial_scale": 0.01},
            "finetune": {
                "samples": [4, 8],
                "main_features": 2,
                "overlap": [0.0, 1.0],
                "grids": {
                    "solved": {"protocol": ["single_task", "finetuning"], "solver": "exact", "readout_scale": 0.02},
                    "simulated": {"protocol": "single_task", "solver": "descent", "learning_rate": 0.02,
                                  "tolerance": 1e-4, "initial_scale": 0.1},
                },
            },
            "measures": {"risk": {}, "sparsity": {"largest_k": 4}},
        }
    },
    "curves": {"relu_penalty": {"points": 11}},
    "figures": {
        "relu_penalty": {"data": {"curve": "theory/relu_penalty"}},
        "tiny_risk": {"plot": "risk_curves", "data": {"risk": "tiny/risk"}, "options": {"only": ["solver=exact"]}},
    },
}  # fmt: skip


class Project:
    """A folder with the project in it, and what one does there."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def snakemake(self, *arguments, **options):
        environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
        command = [sys.executable, "-m", "snakemake", "--cores", "2", "--nocolor", *arguments]
        return subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=240, check=False, **options
        )

    def would_run(self, *arguments):
        """{rule: number of jobs} that a dry run announces."""
        done = self.snakemake("--dry-run", *arguments)
        assert done.returncode == 0, done.stderr
        text = done.stdout + done.stderr
        table = text.partition("Job stats:")[2].partition("\n\n")[0]
        return {rule: int(n) for rule, n in re.findall(r"^(\w+) +(\d+)$", table, re.M) if rule not in ("all", "total")}

    def config(self):
        return yaml.safe_load((self.folder / "config/config.yaml").read_text())

    def configure(self, config):
        (self.folder / "config/config.yaml").write_text(yaml.safe_dump(config, sort_keys=False))

    def replace(self, file, old, new):
        path = self.folder / file
        text = path.read_text()
        assert old in text, f"{file} no longer has {old!r}: mend this test"
        path.write_text(text.replace(old, new))

    def copy(self, folder):
        shutil.copytree(self.folder, folder)
        return Project(folder)


@pytest.fixture(scope="session")
def finished(tmp_path_factory, worker_id):
    """The small project after one whole run. Never change it: take a `project`."""
    folder = tmp_path_factory.mktemp("finished") / "project"
    folder.mkdir()
    for part in PARTS:
        source = ROOT / part
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(source, folder / part, ignore=ignore) if source.is_dir() else shutil.copy(source, folder / part)
    project = Project(folder)
    project.configure(TINY)
    done = project.snakemake()
    assert done.returncode == 0, done.stdout + done.stderr
    return project


@pytest.fixture
def project(finished, tmp_path):
    return finished.copy(tmp_path / "moved")
