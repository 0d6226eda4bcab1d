"""Tiny pairs of image tasks for the figures to draw, that the family solved."""

from functools import cache
from pathlib import Path

import pandas as pd

from toy import shards
from toy.image_pair_toys import finetuned, pretrained

TABLE = Path(__file__).resolve().parents[2] / "resources/published/linear-teachers-table1.csv"
SEEDS = [0, 1, 2]


@cache
def roles(plot):
    """The data of a plot, by role."""
    assert plot == "bound_correlations"
    told = {"pairs": 5, "samples": (10, 20), "draws": 2}
    made = [finetuned(start, SEEDS, **told) for start in (pretrained(SEEDS, pairs=5), None)]
    return {"bounds": shards.measured("image_pairs", "bounds", made), "published": pd.read_csv(TABLE)}
