"""Tiny pairs of image tasks for the figures to draw, that the family solved."""

from functools import cache
from pathlib import Path

import pandas as pd

from carryover.measures import bounds
from toy import shards

TABLE = Path(__file__).resolve().parents[2] / "resources/published/linear-teachers-table1.csv"
SEEDS = [0, 1, 2]
TASK = {"pairs": 5, "cutoff": (0.0, 0.01)}


@cache
def roles(plot):
    """The data of a plot, by role."""
    assert plot == "bound_correlations"
    source = shards.shard("image_pairs", "pretrain", SEEDS, **TASK)
    told = {**TASK, "samples": (10, 20), "draws": 2}
    made = [
        shards.shard("image_pairs", "finetune", SEEDS, start, **told, protocol=protocol)
        for protocol, start in (("finetuning", source), ("single_task", None))
    ]
    return {"bounds": shards.measured("image_pairs", bounds, made), "published": pd.read_csv(TABLE)}
