"""Pretraining on all training images of a source task."""

from dataclasses import dataclass
from itertools import product

import numpy as np

from carryover.config.parameters import parameter
from carryover.families.image_pairs import dataset, task


@dataclass(frozen=True, kw_only=True)
class Parameters(task.Parameters):
    solver: str = parameter("exact", "the limit of gradient descent from 0", choices=("exact",), axis=True)


def run(p, experiment, seeds, solve, progress=None):
    """One linear function per seed, pair of tasks and cutoff, of least norm; Dataset with a `run` dimension."""
    images, pairs = task.Images(p, experiment), task.pairs(p, experiment)
    runs, coefficients = [], []
    for seed in seeds:
        split = images.split(seed)
        for (number, four), cutoff in product(enumerate(pairs), p.cutoff):
            pixels, labels = split.task(*four[:2])
            coefficients.append(solve(task.Problem(pixels, labels, np.zeros(pixels.shape[1]), cutoff), p, progress))
            runs.append({"seed": seed, **task.named(number, four), "cutoff": cutoff, "pretrain_solver": p.solver})
    found = np.array(coefficients)[:, None]
    meaning = "coefficients θ_S of the source task"
    return dataset.assemble(runs, {"coefficients": (("run", "output", "input"), found, meaning)})
