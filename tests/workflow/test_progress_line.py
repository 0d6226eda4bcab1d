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


@pytest.fixture
def snakemake(tmp_path):
    """Runs Snakemake on three jobs, of which the third fails."""
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    words = ["-m", "snakemake", "--logger", "progress", "--cores", "1", "--keep-going", "--show-failed-logs"]
    environment = os.environ | {"PYTHONPATH": str(SCRIPTS)}

    def run(*more, **streams):
        return subprocess.run([sys.executable, *words, *more], cwd=tmp_path, env=environment, **streams)

    return run


def test_a_log_gets_few_lines_and_what_failed_in_full(snakemake, tmp_path):
    done = snakemake(capture_output=True, text=True)
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    progress = [line for line in lines if "of 4 jobs done" in line]
    assert [line.partition(" in ")[0] for line in progress] == ["1 of 4 jobs done", "2 of 4 jobs done"]
    assert lines.count("what went wrong") == 1
    assert not re.search(r"^rule write|jobid: [01]\b", done.stderr, re.MULTILINE)
    complete = next(tmp_path.glob(".snakemake/log/*.log")).read_text()
    assert complete.count("rule write:") == 4  # each job as it starts, and the error
    assert "rule write:" in snakemake("-n", capture_output=True, text=True).stdout
