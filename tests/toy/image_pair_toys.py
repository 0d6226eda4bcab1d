"""Tiny shards of pairs of tasks on scikit-learn's digits, for tests and for a figure to draw."""

from functools import cache
from pathlib import Path

import pandas as pd

from carryover.measures import bounds
from toy.shards import measured, shard

PUBLISHED = Path(__file__).resolve().parents[2] / "resources/published/linear-teachers-table1.csv"
TASK = {"pairs": 3, "cutoff": (0.0, 0.01)}


def pretrained(seeds=(0, 1), **told):
    return shard("image_pairs", "pretrain", seeds, **TASK | told)


def finetuned(start=None, seeds=(0, 1), **told):
    told = {**TASK, "samples": (6, 11), "draws": 3, "protocol": "finetuning" if start else "single_task", **told}
    return shard("image_pairs", "finetune", seeds, start, **told)


@cache
def roles(plot):
    """The data of the plot of correlations with bounds, by role."""
    seeds, told = (0, 1, 2), {"pairs": 5, "samples": (10, 20), "draws": 2}
    made = [finetuned(start, seeds, **told) for start in (pretrained(seeds, pairs=5), None)]
    return {"bounds": measured("image_pairs", bounds, made), "published": pd.read_csv(PUBLISHED)}
