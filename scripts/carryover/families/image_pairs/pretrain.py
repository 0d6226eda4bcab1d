"""Pretraining on all training images of a source task."""

from dataclasses import dataclass
from itertools import product

import numpy as np

from carryover.config.parameters import parameter
from carryover.families.contract import Piece
from carryover.families.image_pairs import task


@dataclass(frozen=True, kw_only=True)
class Parameters(task.Parameters):
    solver: str = parameter("exact", "the limit of gradient descent from 0", choices=("exact",), axis=True)


def problems(p, shard):
    """A piece for each seed, pair of tasks and cutoff: one linear function of least norm."""
    images, pairs = task.Images(p, shard.experiment), task.pairs(p, shard.experiment)
    for seed in shard.seeds:
        split = images.split(seed)
        for (number, four), cutoff in product(enumerate(pairs), p.cutoff):
            pixels, labels = split.task(*four[:2])
            problem = task.Problem(pixels[None], labels[None], np.zeros((1, pixels.shape[1])), cutoff)
            runs = {"seed": [seed], **task.named(number, four), "cutoff": cutoff}
            yield Piece(problem, runs, _variables, task.MEANING)


def _variables(trained):
    return {"coefficients": (("run", "output", "input"), trained.weights, "coefficients θ_S of the source task")}
