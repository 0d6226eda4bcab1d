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
    """Variables with the power and direction of the features, and the weights unless they follow from the product."""
    source, weights = problem.teacher, {}
    share, feature = np.ones(len(source)), trained.weights.coefficients  # of rank one unless it descended
    if p.solver == "descent":
        network = trained.weights.full()
        left, values, _ = np.linalg.svd(network.features())
        share, feature = values[:, 0] ** 2 / (values**2).sum(1), left[:, :, 0]
        weights = task.weights(network, max(p.depth))
    lengths = np.linalg.norm(feature, axis=1) * np.linalg.norm(source, axis=1)
    cosine = np.abs((feature * source).sum(1)) / lengths
    return task.variables(problem, task.features(share, cosine) | weights, trained)
