"""Pretraining of deep linear networks on the population loss of the source task."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from carryover.config.parameters import parameter
from carryover.families.contract import Piece, crossed
from carryover.families.deep_linear import dataset, task

SIMULATED = {"solver": ("descent", "balanced")}
DESCENT = {"solver": ("descent",)}


@dataclass(frozen=True, kw_only=True)
class Parameters(task.Parameters):
    solver: str = parameter("exact", "the limit of vanishing initial weights, gradient descent, or gradient flow of "
                            "balanced networks", choices=("exact", "descent", "balanced"), axis=True)  # fmt: skip
    start: str = parameter("random", "weights before training: independent, or balanced and of rank one",
                           choices=task.STARTS, when=DESCENT)  # fmt: skip
    initial_scale: float = parameter(1e-5, "their standard deviation, or the norm of each balanced layer", above=0,
                                     when=SIMULATED)  # fmt: skip
    learning_rate: float = parameter(1e-3, "step of gradient descent", above=0, when=DESCENT)
    tolerance: float = parameter(1e-6, "loss above the noise at which training stops", above=0, when=SIMULATED)
    max_steps: int = parameter(100_000, "most steps of a network", minimum=1, when=DESCENT)
    device: str = parameter("auto", "where it is trained", choices=("auto", "cpu", "cuda"), when=DESCENT)


def problems(p, shard):
    """A piece for each depth: one network per seed and source norm, trained on its source task."""
    seed, norm = crossed(seed=shard.seeds, source_norm=p.source_norm).values()
    source = np.stack([task.directions(p, shard.experiment, one)[0] for one in seed.tolist()]) * norm[:, None]
    for depth in p.depth:
        start = None if p.solver == "exact" else task.small_weights(p, shard.experiment, seed.tolist(), depth)
        problem = task.on_population(p, source, start, depth)
        runs = {"seed": seed, "source_norm": norm, "depth": depth, "loss_function": "squared"}
        yield Piece(problem, runs, partial(_variables, p, problem), dataset.MEANING)


def _variables(p, problem, trained):
    return dataset.variables(problem, _features(p, trained, problem.teacher), trained)


def _features(p, trained, source):
    """What became of the features, and the weights where they are more than their product."""
    if p.solver != "descent":  # of rank one, along the product
        share, cosine = np.ones(len(source)), alignment(trained.weights.coefficients, source)
        return dataset.features(share, cosine)
    weights = trained.weights.full()
    left, values, _ = np.linalg.svd(weights.features())
    share = values[:, 0] ** 2 / (values**2).sum(1)
    return dataset.features(share, alignment(left[:, :, 0], source)) | dataset.weights(weights, max(p.depth))


def alignment(directions, source):
    """|cosine| of vectors (runs, d) with the source's coefficients."""
    lengths = np.linalg.norm(directions, axis=1) * np.linalg.norm(source, axis=1)
    return np.abs((directions * source).sum(1)) / lengths
