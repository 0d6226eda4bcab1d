"""Tiny pairs of image tasks for the figures to draw, that the family solved."""

from functools import cache
from pathlib import Path

import pandas as pd

from carryover.config.parameters import model_of
from carryover.families import stages
from carryover.families.image_pairs import exact, finetune, pretrain
from carryover.labels import labelled
from carryover.measures import bounds
from carryover.workflow.collecting import collect

TABLE = Path(__file__).resolve().parents[2] / "resources/published/linear-teachers-table1.csv"
SEEDS = [0, 1, 2]
TASK = {"pairs": 5, "cutoff": (0.0, 0.01)}


@cache
def roles(plot):
    """The data of a plot, by role."""
    assert plot == "bound_correlations"
    source = stages.run(pretrain, model_of("families.image_pairs", "pretrain")(**TASK), "toy", SEEDS, exact.solve)
    told = {**TASK, "samples": (10, 20), "draws": 2}
    shards = [
        stages.run(
            finetune,
            model_of("families.image_pairs", "finetune")(**told, protocol=protocol),
            "toy",
            SEEDS,
            exact.solve,
            start,
        )
        for protocol, start in (("finetuning", source), ("single_task", None))
    ]
    measured = labelled(
        collect([bounds.measure(shard, model_of("measures", "bounds")()) for shard in shards]), "image_pairs"
    )
    return {"bounds": measured, "published": pd.read_csv(TABLE)}
