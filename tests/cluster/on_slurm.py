"""The small project as a user of a cluster has it, with something that can go wrong once in the job of a rule."""

import copy
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from toy.small_project import ENVIRONMENT, TINY, Project

# The profile counts jobs over half a minute, and Snakemake ends no sooner than that is over.
PROFILE = ["--workflow-profile", "profiles/slurm", "--max-jobs-per-timespan", "100/1s", "--nocolor"]
SNAKEMAKE = Path(__file__).with_name("impatient_snakemake.py")
# Stands before Python on the path of the jobs: notes what a job sees, and lets happen what is laid out for its script.
PYTHON = """#!/bin/sh
rule=$(basename "$1" .py)
echo "$rule ${{CUDA_VISIBLE_DEVICES-}}" >> {folder}/seen
if mv {folder}/$rule.trouble {folder}/$rule.met 2> /dev/null; then
  echo "$SLURM_JOB_ID" > {folder}/$rule.job
  sh {folder}/$rule.met
fi
exec {python} "$@"
"""
PATIENCE = 300  # seconds, on a busy machine


class Clustered(Project):
    def __init__(self, folder):
        made = Project.new(folder, None)
        super().__init__(made.folder, None)
        self.side, self.process = Path(f"{folder}.side"), None
        self.side.mkdir()
        python = self.side / "python"
        python.write_text(PYTHON.format(folder=self.side, python=sys.executable))
        python.chmod(0o755)
        given = {name: value for name, value in ENVIRONMENT.items() if name != "CUDA_VISIBLE_DEVICES"}
        self.environment = given | {"PATH": f"{self.side}{os.pathsep}{given['PATH']}"}

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.process and self.process.poll() is None:
            self.kill()

    def ask_for(self, **resources):
        """What the training jobs ask for."""
        config = copy.deepcopy(TINY)
        config["experiments"]["tiny"]["resources"] = resources
        self.configure(config)

    def let(self, rule, trouble):
        """The first job of `rule` runs `trouble`, a line of shell, before it starts."""
        (self.side / f"{rule}.trouble").write_text(trouble)

    def troubled(self, rule):
        """Wait until a job of `rule` is in its trouble; the job's number."""
        file = self.side / f"{rule}.job"
        wait(lambda: file.exists() and file.read_text().endswith("\n"), f"{rule} never began")
        return file.read_text().strip()

    def seen(self):
        """[(rule, the GPUs that its job was given)] of all jobs' scripts."""
        return [tuple(line.split(" ")) for line in (self.side / "seen").read_text().splitlines()]

    def start_on_slurm(self, *arguments):
        command = [sys.executable, SNAKEMAKE, *PROFILE, *arguments]
        with Path(f"{self.folder}.out").open("w") as out:
            self.process = subprocess.Popen(
                command, cwd=self.folder, env=self.environment, stdout=out, stderr=out, start_new_session=True
            )

    def kill(self):
        """Kill Snakemake and its local jobs; those that Slurm has started go on."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def ended(self):
        """(exit code, everything that was printed), once Snakemake has ended."""
        code = self.process.wait(PATIENCE)
        return code, Path(f"{self.folder}.out").read_text()

    def jobs(self, rule):
        """What Slurm knows of its jobs of `rule`, oldest first: {field: value}."""
        lines = slurm("scontrol", "show", "job", "--details", "--oneliner").splitlines()
        jobs = [dict(field.partition("=")[::2] for field in line.split()) for line in lines]
        own = [job for job in jobs if job.get("WorkDir") == str(self.folder)]
        return sorted((j for j in own if j["Comment"].startswith(f"rule_{rule}")), key=lambda job: int(job["JobId"]))


def slurm(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


def wait(condition, otherwise):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, otherwise
        time.sleep(0.2)
