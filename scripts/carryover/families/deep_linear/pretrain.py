"""Pretraining of deep linear networks on the population loss of the source task."""

from functools import partial

import numpy as np

from carryover.families.contract import Piece, cartesian_product
from carryover.families.deep_linear import task


def problems(p, shard):
    """A piece for each depth: one network per seed and source norm, trained on its source task."""
    seed, norm = cartesian_product(seed=shard.seeds, source_norm=p.source_norm).values()
    source = np.stack([task.directions(p, shard.experiment, one)[0] for one in seed.tolist()]) * norm[:, None]
    for depth in p.depth:
        start = None if p.solver == "exact" else task.small_weights(p, shard.experiment, seed.tolist(), depth)
        problem = task.on_population(p, source, start, depth)
        runs = {"seed": seed, "source_norm": norm, "depth": depth, "loss_function": "squared"}
        yield Piece(problem, runs, partial(_variables, p, problem), task.MEANING)


def _variables(p, problem, trained):
    return task.variables(problem, _features(p, trained, problem.teacher), trained)


def _features(p, trained, source):
    """What became of the features, and the weights where they are more than their product."""
    if p.solver != "descent":  # of rank one, along the product
        share, cosine = np.ones(len(source)), alignment(trained.weights.coefficients, source)
        return task.features(share, cosine)
    weights = trained.weights.full()
    left, values, _ = np.linalg.svd(weights.features())
    share = values[:, 0] ** 2 / (values**2).sum(1)
    return task.features(share, alignment(left[:, :, 0], source)) | task.weights(weights, max(p.depth))


def alignment(directions, source):
    """|cosine| of vectors (runs, d) with the source's coefficients."""
    lengths = np.linalg.norm(directions, axis=1) * np.linalg.norm(source, axis=1)
    return np.abs((directions * source).sum(1)) / lengths
