"""On a real Slurm the small project comes to the results of a local run, whatever happens to its jobs."""

import sys

import pytest

from cluster.on_slurm import slurm

pytestmark = [pytest.mark.extended, pytest.mark.xdist_group("slurm")]

# As docs/scale.md has it, for training on a partition of its own.
PARTITIONS = ["--default-resources", "slurm_partition=cpu"]
PARTITIONS += ["--set-resources", "pretrain:slurm_partition=gpu", "finetune:slurm_partition=gpu"]
FOREVER = "exec sleep 1000"
MEMORY = f"exec {sys.executable} -c 'import time; x = bytes([1]) * 2_000_000_000; time.sleep(1000)'"


def of(job, jobs):
    """The job of this number, and the one that took its place: the next with the same rule and wildcards."""
    (first,) = (j for j in jobs if j["JobId"] == job)
    return first, next(j for j in jobs if j["Comment"] == first["Comment"] and int(j["JobId"]) > int(job))


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


def test_jobs_that_are_ended_are_named_and_run_again_with_more(project, finished_project):
    project.ask_for(mem_mb=1500, runtime=10)
    for rule, trouble in {"pretrain": FOREVER, "finetune": MEMORY, "measure": FOREVER}.items():
        project.let(rule, trouble)
    project.start_on_slurm()
    late = project.troubled("pretrain")
    slurm("scontrol", "update", f"JobId={late}", "TimeLimit=1")
    large = project.troubled("finetune")
    cancelled = project.troubled("measure")
    slurm("scancel", cancelled)
    code, text = project.ended()
    assert code == 0, text
    assert project.results() == finished_project.results()

    first, second = of(late, project.jobs("pretrain"))
    assert (first["JobState"], second["JobState"]) == ("TIMEOUT", "COMPLETED")
    assert second["TimeLimit"] == "00:20:00"
    first, second = of(large, project.jobs("finetune"))
    assert (first["MinMemoryNode"], second["MinMemoryNode"]) == ("1500M", "3000M")
    assert second["JobState"] == "COMPLETED"
    first, second = of(cancelled, project.jobs("measure"))
    assert (first["JobState"], second["JobState"]) == ("CANCELLED", "COMPLETED")
    assert (first["MinMemoryNode"], second["MinMemoryNode"]) == ("4000M", "8000M")
    for rule, job in {"pretrain": late, "finetune": large, "measure": cancelled}.items():
        assert f"Error in rule {rule}" in text
        assert f"SLURM-job '{job}' failed" in text
    assert not any("TresPerJob" in job for rule in ("pretrain", "finetune") for job in project.jobs(rule))
