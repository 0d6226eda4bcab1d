"""Tasks of diagonal linear networks, and pretraining on the auxiliary task.

`p` are the stage's parameters, `shard` is a `stages.Shard`. D is the input dimension.
"""

from functools import partial

import numpy as np

from carryover.errors import UserError
from carryover.families.stages import Batch, of_training
from carryover.networks.diagonal import Weights
from carryover.streams import generator
from carryover.tasks import sparse
from carryover.training.diagonal import Problem
from carryover.training.result import Samples

MEANING = {
    "main_features": "active dimensions of the main task",
    "initial_scale": "value of all weights at the start from scratch",
}
LAYERS = {
    "first_plus": "first-layer weights of the positive path",
    "first_minus": "first-layer weights of the negative path",
    "second_plus": "readout weights of the positive path",
    "second_minus": "readout weights of the negative path",
}


def problems(p, shard):
    """One network per seed, trained on its auxiliary task."""
    seeds, experiment = shard.seeds, shard.experiment
    teacher = np.stack([auxiliary_teacher(p, experiment, seed)[2] for seed in seeds])
    inputs = shard.draw(sparse.sphere, "auxiliary inputs", p.samples, p.dimension)
    # u² = scale² (1 + balance) and v² = scale² (1 − balance) leave the mean square of both layers at scale².
    first, second = (
        np.full((len(seeds), p.dimension), p.initial_scale * np.sqrt(1 + sign * p.balance)) for sign in (1, -1)
    )
    start = Weights(first, first, second[:, None], second[:, None])
    problem = Problem([task(p, inputs, teacher, np.arange(len(seeds)))], start, teacher)
    yield Batch(problem, {"seed": seeds}, partial(variables, problem, teacher), MEANING, ("auxiliary",))


def variables(problem, auxiliary_teacher, trained):
    """`Variables` of the networks of a `Trained`, the task of their `Problem`, and the auxiliary one, (runs, D)."""
    layers = {}
    for prefix, weights, when in (("", trained.weights, ""), ("start_", problem.start, " before training")):
        for name, meaning in LAYERS.items():
            dims = ("run", "input") if name.startswith("first") else ("run", "output", "input")
            layers[prefix + name] = (dims, getattr(weights, name), meaning + when)
    return {
        "coefficients": (("run", "output", "input"), trained.weights.coefficients(), "coefficients β of the network"),
        "teacher": (("run", "input"), problem.teacher, "coefficients of the task that is learned"),
        "auxiliary_teacher": (("run", "input"), auxiliary_teacher, "coefficients of the auxiliary task"),
        **of_training(trained),
        **layers,
    }


def auxiliary_teacher(p, experiment, seed):
    """(order, signs, coefficients) of the auxiliary task of a seed: one for all conditions of an experiment."""
    rng = generator(experiment, "", seed, "teacher")
    return sparse.auxiliary_teacher(rng, p.dimension, p.auxiliary_features, p.auxiliary_norm)


def task(p, inputs, teachers, sets):
    """What runs learn from inputs (sets, n, D) of teachers (sets, D), each from its set (runs,): the teacher's outputs,
    or their signs where the loss is cross-entropy.

    UserError for cross-entropy with a solver that minimises the squared error.
    """
    y = np.stack([X @ teacher for X, teacher in zip(inputs, teachers, strict=True)])
    if p.loss == "cross_entropy":
        if p.solver != "descent":
            raise UserError(f"solver {p.solver} minimises the squared error: choose solver descent for loss {p.loss}.")
        y = np.where(y < 0, -1.0, 1.0)
    return Samples(inputs, y[sets], sets)
