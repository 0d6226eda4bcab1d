"""`make` shows one progress line, and the logs of jobs that fail; a dry run is Snakemake's own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.extended

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
SNAKEFILE = """
rule all:
    input: expand("{number}.txt", number=range(3))

rule write:
    output: "{number}.txt"
    log: "{number}.log"
    shell: "(test {wildcards.number} != 2 && echo > {output} || (echo what went wrong; false)) > {log}"
"""


def test_a_log_gets_few_lines_and_what_failed_in_full(tmp_path):
    """Of three jobs the third fails."""
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    command = [sys.executable, "-m", "snakemake", "--logger", "progress", "--cores", "1", "--keep-going"]
    command.append("--show-failed-logs")
    how = {"cwd": tmp_path, "env": os.environ | {"PYTHONPATH": str(SCRIPTS)}, "capture_output": True, "text": True}
    done = subprocess.run(command, **how)
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    progress = [line for line in lines if "of 4 jobs done" in line]
    assert [line.partition(" in ")[0] for line in progress] == ["1 of 4 jobs done", "2 of 4 jobs done"]
    assert lines.count("what went wrong") == 1
    assert not re.search(r"^rule write|jobid: [01]\b", done.stderr, re.MULTILINE)
    complete = next(tmp_path.glob(".snakemake/log/*.log")).read_text()
    assert complete.count("rule write:") == 4  # each job as it starts, and the error
    assert "rule write:" in subprocess.run([*command, "-n"], **how).stdout
