"""Tiny wide ReLU networks for the figures to draw, that the family trained."""

from functools import cache

from toy import shards
from toy.wide_relu_toys import finetuned, pretrained

SEEDS = [0, 1, 2]
TASK = {"width": 40, "max_steps": 100}


@cache
def roles(plot):
    """The data of a plot, by role."""
    assert plot == "ntk_bound"
    told = {**TASK, "samples": (2, 8), "distance": (0.25, 1.5)}
    starts = (None, pretrained(SEEDS, **TASK))
    made = [finetuned(start, SEEDS, **told, solver=solver) for start in starts for solver in ("flow", "exact")]
    return {"bound": shards.measured("wide_relu", "ntk_bound", made)}
