"""Tiny shards of ReLU networks for tests."""

from carryover.families.relu.parameters import PRETRAINED
from toy.shards import followed, shard

TASK = {"dimension": 7, "width": 9, "auxiliary_features": 3}
FITTED = ("single_task_probe", "single_task_kernel", "finetuning_probe", "finetuning_kernel")
TRAINED = ("single_task", "multi_task", "finetuning")
QUICK = {"learning_rate": 0.1, "max_epochs": 30, "device": "cpu"}


def pretrained(seeds=(0, 1, 2), **told):
    return shard("relu", "pretrain", seeds, **{**TASK, **QUICK, "samples": 20, "initial_scale": 0.5, **told})


def finetuned(start, protocol="finetuning", seeds=(0, 1), **told):
    shared = {"samples": (4,), "main_features": (2,), "overlap": (0.5,), "auxiliary_samples": 12, "batch_size": 0}
    told = {**TASK, **QUICK, **shared, "solver": "ridge" if protocol in FITTED else "descent", **told}
    return shard("relu", "finetune", seeds, start if protocol in PRETRAINED else None, protocol=protocol, **told)


def problems(start=None, run=finetuned, **told):
    """The problems that the solver is handed, one per sample size."""
    return [problem for problem, _ in followed(run, *([start] if run is finetuned else []), **told)[1]]
