"""Pretraining of mean-field ReLU networks on the population loss of the source task."""

from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np

from carryover.config.parameters import parameter
from carryover.families import datasets
from carryover.families.contract import Piece, crossed
from carryover.families.mean_field import dataset, task


@dataclass(frozen=True, kw_only=True)
class Parameters(task.Parameters):
    solver: str = parameter("descent", "gradient descent; gradient flow, which descent follows with small steps; or "
                            "exact, with an infinite anchor: input weights stay, and the readout's flow is known",
                            choices=(*task.TRAINED["solver"], "exact"), axis=True)  # fmt: skip
    ablated: tuple[float, ...] = parameter((0.5,), "fractions of the target's units that the source lacks", minimum=0,
                                           maximum=1)  # fmt: skip
    anchor: tuple[float, ...] = parameter((0.0,), "λ of the penalties λ/2 · 1/m Σ|w − w(0)|² on the way of the input "
                                          "weights, or 2mλ' of the paper's λ' Σ|w − w(0)|²", minimum=0,
                                          when=task.TRAINED)  # fmt: skip
    learning_rate: float = parameter(0.01, "step of gradient descent, in units of the width", above=0,
                                     when=task.DESCENT)  # fmt: skip
    tolerance: float = parameter(1e-6, "loss, half the mean squared error, at which training stops", above=0)
    max_steps: int = parameter(100_000, "most steps of descent, or gradient evaluations of the flow", minimum=1,
                               when=task.TRAINED)  # fmt: skip
    max_time: float = parameter(task.MAX_TIME, "flow time at which training stops: learning_rate · steps of descent",
                                above=0, when={"solver": ("flow", "exact")})  # fmt: skip
    accuracy: float = parameter(0.03, "error of one step of the flow in a unit, relative to how far it has moved",
                                above=0, maximum=1, when=task.FLOW)  # fmt: skip
    device: str = parameter("auto", "where it is trained", choices=("auto", "cpu", "cuda"), when=task.TRAINED)


def problems(p, shard):
    """One network per seed, teacher's scale, ablated fraction and anchor.

    Raises UserError for a fraction that leaves no whole number of units.
    """
    experiment = shard.experiment
    anchors = (np.inf,) if p.solver == "exact" else p.anchor
    runs = list(product(shard.seeds, p.teacher_scale, p.ablated, anchors))
    columns = crossed(seed=shard.seeds, teacher_scale=p.teacher_scale, ablated=p.ablated, anchor=anchors)
    problem = task.Problem(
        start=task.stacked([task.initial(p, experiment, seed) for seed, *_ in runs]),
        teacher=task.stacked([task.source(p, experiment, *which) for *which, _ in runs]),
        networks=np.arange(len(runs)),
        anchor=columns["anchor"],
        max_time=np.full(len(runs), p.max_time) if p.solver == "exact" else None,
    )
    targets = task.stacked([task.target(p, experiment, seed, scale) for seed, scale, *_ in runs])
    kept = partial(_variables, problem, targets)
    yield Piece(problem, columns | {"loss_function": "squared"}, kept, dataset.MEANING)


def _variables(problem, targets, trained):
    weights = dataset.weights(trained.weights, problem.start.first, targets, problem.teacher.second[:, 0])
    return {**datasets.of_training(trained), **weights, **dataset.size(targets)}
