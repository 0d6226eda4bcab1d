"""Ensembles of a size that memory and cache bear, trained one after the other and put together again."""

from dataclasses import fields
from operator import attrgetter

import numpy as np

from carryover.networks.diagonal import Weights
from carryover.training.memory import in_pieces
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
            X, y, part.start, tolerance=p.tolerance, trainable=part.trainable, teacher=part.teacher, device=p.device,
            progress=progress, **options,
        )  # fmt: skip

    return _join(in_pieces(trained, np.split(runs, range(size, len(runs), size))))


def _join(parts):
    def joined(of):
        return np.concatenate([of(part) for part in parts])

    weights = Weights(*(joined(attrgetter(f"weights.{f.name}")) for f in fields(Weights)))
    curves = {name: joined(lambda part, name=name: part.curves[name]) for name in parts[0].curves}
    names = ("loss", "evaluations", "converged", "risk_final", "risk_best", "time")
    return Trained(weights=weights, curves=curves, **{name: joined(attrgetter(name)) for name in names})
