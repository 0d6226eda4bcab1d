"""Pretraining of mean-field ReLU networks on the population loss of the source task."""

from functools import partial
from itertools import product

import numpy as np

from carryover.families import stages
from carryover.families.contract import Piece, cartesian_product
from carryover.families.mean_field import task


def problems(p, shard):
    """One network per seed, teacher's scale, ablated fraction and anchor.

    Raises UserError for a fraction that leaves no whole number of units.
    """
    experiment = shard.experiment
    anchors = (np.inf,) if p.solver == "exact" else p.anchor
    runs = list(product(shard.seeds, p.teacher_scale, p.ablated, anchors))
    columns = cartesian_product(seed=shard.seeds, teacher_scale=p.teacher_scale, ablated=p.ablated, anchor=anchors)
    problem = task.Problem(
        start=task.stacked([task.initial(p, experiment, seed) for seed, *_ in runs]),
        teacher=task.stacked([task.source(p, experiment, *which) for *which, _ in runs]),
        networks=np.arange(len(runs)),
        anchor=columns["anchor"],
        max_time=np.full(len(runs), p.max_time) if p.solver == "exact" else None,
    )
    targets = task.stacked([task.target(p, experiment, seed, scale) for seed, scale, *_ in runs])
    variables = partial(_variables, problem, targets)
    yield Piece(problem, columns | {"loss_function": "squared"}, variables, task.MEANING)


def _variables(problem, targets, trained):
    weights = task.weights(trained.weights, problem.start.first, targets, problem.teacher.second[:, 0])
    return {**stages.of_training(trained), **weights, **task.size(targets)}
