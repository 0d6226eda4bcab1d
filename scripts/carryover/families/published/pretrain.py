"""Pretraining on the auxiliary task, a run of its own in the released code, with the inputs of its own."""

import numpy as np

from carryover.families.published import draws, protocols
from carryover.families.stages import Piece, of_training, single_precision
from carryover.networks import diagonal, relu
from carryover.training.published import Problem
from carryover.training.result import Task

MEANING = {
    "published": "published experiment",
    "ours": "in what training is as in our own experiments; empty: as published",
    "main_features": "features of the main task",
    "unit_correlations": "cosine between each main unit and its auxiliary one",
    "magnitude": "factor on the main task's coefficients",
}
LAYERS = {
    "relu": {"first": ("unit", "input"), "second": ("output", "unit")},
    "diagonal": {"first_plus": ("input",), "first_minus": ("input",), "second_plus": ("output", "input"),
                 "second_minus": ("output", "input")},
}  # fmt: skip
"""{kind of network: its arrays and their dimensions}."""


def problems(p, shard):
    """One network per seed; a piece for each seed of diagonal networks, which share no inputs."""
    rules = protocols.PRETRAINING[p.network]
    for seeds in [[seed] for seed in shard.seeds] if p.network == "diagonal" else [shard.seeds]:
        if p.network == "diagonal":
            small = small_diagonal(1.0, 1)
            drawn = [draws.draw_diagonal(seed, small) for seed in seeds]
        else:
            size = 1 / draws.UNITS if p.network == "magnitude" else draws.UNITS**-0.5
            drawn = [draws.draw_relu_pretraining(seed, size, "signs" in p.ours) for seed in seeds]
        problem = pose(p, drawn, rules, np.full(len(seeds), min(rules.epochs, p.budget)))
        yield Piece(problem, {"seed": seeds}, lambda trained: layers(trained) | of_training(trained), MEANING)


def small_diagonal(factor, outputs, first_factor=None):
    """Weights of a diagonal network from scratch, with factors on the readouts and on the first layer."""
    first = np.full(draws.DIAGONAL, draws.SMALL * (factor if first_factor is None else first_factor), np.float32)
    second = np.full((outputs, draws.DIAGONAL), draws.SMALL * factor, np.float32)
    return diagonal.Weights(first, first, second, second)


def pose(p, drawn, rules, last):
    """The problem of networks that were drawn; their inputs are sets of one each, or, of diagonal ones, one for all."""
    if isinstance(drawn[0].start, relu.Weights):
        start = relu.Weights.stack([one.start for one in drawn])
        if p.rounded:
            start = relu.Weights(*(np.nextafter(layer, np.float32(np.inf)) for layer in (start.first, start.second)))
        sets, together = np.arange(len(drawn)), drawn
    else:
        start = diagonal.Weights(*(np.stack(arrays) for arrays in zip(
            *((getattr(one.start, name) for name in LAYERS["diagonal"]) for one in drawn), strict=True)))  # fmt: skip
        sets, together = np.zeros(len(drawn), int), drawn[:1]

    def task(name):
        X = np.stack([getattr(one, name)[0] for one in together])
        return Task(X, np.stack([getattr(one, name)[1] for one in drawn]), sets)

    multi_task = getattr(p, "protocol", "") == "multi_task"
    tasks, test = [task("auxiliary"), task("main")] if multi_task else [task("main")], task("test")
    tolerance = np.full(len(drawn), rules.tolerance)
    if "stop" in getattr(p, "switched", ()):
        tolerance = 1e-8 * np.square(tasks[0].y).mean(1)
    teachers = np.stack([one.teacher for one in drawn])
    return Problem(tasks, start, test, rules, last, tolerance, [one.generator for one in drawn], teachers)


def layers(trained):
    """Variables of the weights."""
    kind = "relu" if isinstance(trained.weights, relu.Weights) else "diagonal"
    return single_precision({
        name: (("run", *dims), getattr(trained.weights, name), f"weights: {name.replace('_', ' ')}")
        for name, dims in LAYERS[kind].items()
    })  # fmt: skip
