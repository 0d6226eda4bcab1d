"""Tiny diagonal networks for tests of their family: pretrained, finetuned, and the problems that solvers get."""

from carryover.families.diagonal.parameters import PRETRAINED
from toy.shards import followed, shard

TASK = {"dimension": 12, "auxiliary_features": 3}
COARSE = {"initial_scale": (0.3,), "readout_scale": 0.3, "tolerance": 1e-8, "learning_rate": 0.02}


def pretrained(seeds=(0, 1, 2), **told):
    return shard("diagonal", "pretrain", seeds, **{**TASK, "samples": 20, "initial_scale": 0.1, **told})


def finetuned(start, protocol="finetuning", solver="exact", seeds=(0, 1), **told):
    told = {"samples": (4,), "main_features": (2,), "overlap": (0.5,), "auxiliary_samples": 16, **told}
    start = start if protocol in PRETRAINED else None
    return shard("diagonal", "finetune", seeds, start, **TASK, protocol=protocol, solver=solver, **told)


def problems(start, protocol, **told):
    """The problems that the solver is handed, one per sample size."""
    told = {"solver": "exact" if protocol != "multi_task" else "flow", "max_steps": 10, **told}
    return [problem for problem, _ in followed(finetuned, start, protocol, **told)[1]]
