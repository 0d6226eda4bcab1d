"""Tiny wide ReLU networks for the figures to draw, that the family trained."""

from functools import cache

from carryover.measures import ntk_bound
from toy import shards

SEEDS = [0, 1, 2]
TASK = {"dimension": 4, "width": 40, "initial_scale": 0.3}
QUICK = {"max_steps": 100, "device": "cpu"}


@cache
def roles(plot):
    """The data of a plot, by role."""
    assert plot == "ntk_bound"
    source, made = shards.shard("wide_relu", "pretrain", SEEDS, **TASK, **QUICK, samples=40), []
    told = {**TASK, **QUICK, "samples": (2, 8), "distance": (0.25, 1.5)}
    for protocol, start in (("single_task", None), ("finetuning", source)):
        for solver in ("flow", "exact"):
            made.append(shards.shard("wide_relu", "finetune", SEEDS, start, **told, protocol=protocol, solver=solver))
    return {"bound": shards.measured("wide_relu", ntk_bound, made)}
