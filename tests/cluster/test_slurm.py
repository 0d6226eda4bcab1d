"""On a real Slurm the small project comes to the results of a local run, whatever happens to its jobs."""

import re

import pytest

pytestmark = [pytest.mark.extended, pytest.mark.xdist_group("slurm")]

# As docs/scale.md has it, for training on a partition of its own.
PARTITIONS = ["--default-resources", "slurm_partition=cpu"]
PARTITIONS += ["--set-resources", "pretrain:slurm_partition=gpu", "finetune:slurm_partition=gpu"]


def test_training_is_given_gpus_and_a_killed_run_goes_on_to_the_same_results(project, finished_project):
    project.ask_for(gpu=1, mem_mb=1500, runtime=10)
    project.let("finetune", "sleep 3")
    project.start_on_slurm(*PARTITIONS)
    project.troubled("finetune")
    project.kill()

    project.start_on_slurm("--unlock")
    code, text = project.ended()
    assert code == 0, text
    project.start_on_slurm(*PARTITIONS)
    code, text = project.ended()
    assert code == 0, text
    assert project.results() == finished_project.results()
    assert not project.litter()

    for rule in ("pretrain", "finetune"):
        asked = {(job["TresPerJob"], job["JOB_GRES"], job["Partition"]) for job in project.jobs(rule)}
        assert asked == {("gres:gpu:1", "gpu:fake:1", "gpu")}
    for rule in ("measure", "collect"):
        assert {("TresPerJob" in job, job["Partition"]) for job in project.jobs(rule)} == {(False, "cpu")}
    given = project.seen()
    assert {gpus for rule, gpus in given if rule in ("pretrain", "finetune")} <= {"0", "1"}
    assert "".join(gpus for rule, gpus in given if rule == "measure").replace("NoDevFiles", "") == ""
    assert not any(project.jobs(rule) for rule in ("curve", "figure"))  # these run where Snakemake does


def test_a_job_out_of_memory_is_named_with_its_log_also_under_q(project, finished_project):
    project.ask_for(mem_mb=800, runtime=10)
    project.let("finetune", "exec python3 -c 'import time; block = bytearray(2 * 10**9); time.sleep(60)'")
    project.start_on_slurm(*PARTITIONS, "--quiet", "all", "--retries", "0")
    code, text = project.ended()
    told = re.search(r"^carryover: (\S+): it ended without a word, as for lack of memory.* would be (\S+)", text, re.M)
    assert code != 0, text
    assert told, text
    assert "/finetune/" in told[1]
    assert "/finetune/" in told[2]
    project.start_on_slurm(*PARTITIONS)
    code, text = project.ended()
    assert code == 0, text
    assert project.results() == finished_project.results()
