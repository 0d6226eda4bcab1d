"""Ensembles of a size that memory and cache bear, trained one after the other and put together again."""

from dataclasses import fields

import numpy as np

from carryover.networks.diagonal import Weights
from carryover.training.devices import in_chunks
from carryover.training.result import Trained

BYTES = 2**29  # of inputs at a time


def train(trainer, problem, p, progress, **options):
    """`Trained` over all runs of the problem; a divergence names the runs by their place in the whole problem."""
    per_run = sum(X[0].nbytes for X in problem.X)
    size = max(1, BYTES // per_run)
    runs = np.arange(len(problem.draw))

    def trained(chunk):
        part = problem.subset(chunk)
        X, y = ([array[part.draw] for array in arrays] for arrays in (part.X, part.y))
        return trainer(
            X, y, part.start, tolerance=p.tolerance, teacher=part.teacher, weights=part.weights, device=p.device,
            progress=progress, **options,
        )  # fmt: skip

    parts = in_chunks(trained, np.split(runs, range(size, len(runs), size)))
    layers = [[getattr(part.weights, layer.name) for part in parts] for layer in fields(Weights)]
    return Trained.joined(parts, Weights(*map(np.concatenate, layers)))
