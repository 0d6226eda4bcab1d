"""A folder with a small project in it, and what one does there."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import yaml

ROOT = Path(__file__).resolve().parents[2]
PARTS = (
    "workflow",
    "Snakefile",
    "rules",
    "scripts",
    "config",
    "envs",
    "profiles",
    "docs",
    "resources",
    "Makefile",
    "CITATION.cff",
)
# As on a user's machine: jobs find our Python first, use one thread, and bytecode is kept.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | {
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    "OMP_NUM_THREADS": "1",
}
HOSTILE = 'it\'s $(touch PWNED) `touch PWNED`; touch PWNED & <b> "x"'
# One block of two seeds, two points that are finetuned, of which one starts from a pretrained network.
TINY = {
    "experiments": {
        "tiny": {
            "family": "diagonal",
            "seeds": 2,
            "block": 2,
            "split": ["protocol", "sparsity"],
            "task": {"dimension": 12, "auxiliary_features": 3},
            "pretrain": {"samples": 16, "initial_scale": 0.01},
            "finetune": {
                "samples": [4, 8],
                "main_features": 2,
                "overlap": [0.0, 1.0],
                "grids": {
                    "solved": {"protocol": "finetuning", "solver": "exact", "readout_scale": 0.02},
                    "simulated": {"protocol": "single_task", "solver": "descent", "learning_rate": 0.02,
                                  "tolerance": 0.01, "initial_scale": 0.1},
                },
            },
            "measures": {"risk": {}, "sparsity": {"largest_k": 4}},
        }
    },
    "curves": {"relu_penalty": {"points": 11, "auxiliary_magnitude": 1.0}},
    "figures": {
        "relu_penalty": {"data": {"curve": "theory/relu_penalty"}, "options": {"title": HOSTILE}},
        "tiny_risk": {"plot": "facets", "data": {"risk": "tiny/risk"}, "options": {"only": ["solver=exact"]}},
    },
}  # fmt: skip
EXACT = "results/tiny/finetune/pretrain_initial_scale~0.01_pretrain_solver~exact_protocol~finetuning_solver~exact/0.nc"
DESCENT = "results/tiny/finetune/protocol~single_task_solver~descent/0.nc"


class Project:
    """A folder with the project in it, and what one does there."""

    def __init__(self, folder, server):
        self.folder, self.server = Path(folder), server

    @classmethod
    def new(cls, folder, server, config=TINY):
        """The repository's own files with a small configuration, nothing made yet."""
        Path(folder).mkdir()
        for part in PARTS:
            source, target = ROOT / part, Path(folder) / part
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "*.xz"))
            else:
                shutil.copy(source, target)
        project = cls(folder, server)
        project.configure(config)
        with (project.folder / "config/figures.mplstyle").open("a") as style:
            style.write(f"# {'long' * 300_000}\n")  # an input larger than those that Snakemake by itself compares
        return project

    @classmethod
    def made(cls, folder):
        """The small project after one whole run of Snakemake in a process of its own."""
        project = cls.new(folder, None)
        command = [sys.executable, "-m", "snakemake", "--cores", "2"]
        done = subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr
        return project

    def copy(self, folder, **options):
        shutil.copytree(self.folder, folder, **options)
        return Project(folder, self.server)

    def start(self, *arguments, cores=2):
        """Start `snakemake <arguments>` in this folder; the number of its process."""
        arguments = ["--cores", str(cores), "--nocolor", *arguments]
        order = {"folder": str(self.folder), "arguments": arguments, "output": f"{self.folder}.out"}
        self.server.stdin.write(json.dumps(order) + "\n")
        return int(self.server.stdout.readline())

    def end(self):
        """(exit code, everything that was printed) of what was started."""
        code = int(self.server.stdout.readline())
        return SimpleNamespace(code=code, text=Path(f"{self.folder}.out").read_text())

    def snakemake(self, *arguments, **options):
        self.start(*arguments, **options)
        return self.end()

    def at_work(self, output):
        """Wait until a job is in the middle of making `output`: the process that its temporary file is named after.

        From then on a job that needs torch takes another second.
        """
        head, tail = f".{Path(output).name}.tmp", Path(output).suffix
        for _ in range(20_000):
            for temporary in (self.folder / output).parent.glob(f"{head}*"):
                return int(temporary.name.removeprefix(head).removesuffix(tail))
            time.sleep(0.003)
        raise AssertionError(f"{output} was never begun")

    def make(self, *arguments, **options):
        """What is printed by a `snakemake <arguments>` that must succeed."""
        done = self.snakemake(*arguments, **options)
        assert done.code == 0, done.text
        return done.text

    def would_run(self, *arguments):
        """{rule: number of jobs} that a dry run announces."""
        table = self.make("--dry-run", *arguments).partition("Job stats:")[2].partition("\n\n")[0]
        return {rule: int(n) for rule, n in re.findall(r"^(\w+) +(\d+)$", table, re.M) if rule not in ("all", "total")}

    def run_python(self, *words, timeout=60):
        """A script or module by hand, with the line that a log shows."""
        return subprocess.run(
            [sys.executable, *words], cwd=self.folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=timeout
        )

    def config(self):
        return yaml.safe_load((self.folder / "config/config.yaml").read_text())

    def configure(self, config):
        (self.folder / "config/config.yaml").write_text(yaml.safe_dump(config, sort_keys=False))

    def replace(self, file, old, new):
        path = self.folder / file
        text = path.read_text()
        assert old in text, f"{file} no longer has {old!r}: mend this test"
        path.write_text(text.replace(old, new))

    def audit(self):
        """The audit of this folder, which must be the working folder."""
        from carryover.audit import findings
        from carryover.workflow import startup

        config = startup.configuration([self.folder / "config/config.yaml"])
        return findings.audit(startup.Sweep(config, self.folder))

    def results(self):
        """{path: bytes} of everything made, but for what tells of time and place."""
        files = sorted(path for path in (self.folder / "results").rglob("*") if path.is_file())
        kept = [path for path in files if path.suffix in (".nc", ".png", ".pdf")]
        return {path.relative_to(self.folder).as_posix(): path.read_bytes() for path in kept}

    def litter(self):
        """Temporary files that a job has left behind."""
        return [path.name for path in (self.folder / "results").rglob(".*")]
