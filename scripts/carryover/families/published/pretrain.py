"""Pretraining on the auxiliary task, a run of its own in the released code, with the inputs of its own.

`p` are the stage's parameters, `shard` is a `stages.Shard`.
"""

import numpy as np

from carryover.families.published import draws, protocols
from carryover.families.stages import Batch, of_training, single_precision
from carryover.networks import relu
from carryover.training.published import Problem
from carryover.training.result import Samples

MEANING = {
    "published": "published experiment",
    "ours": "in what training is as in our own experiments; empty: as published",
    "main_features": "features of the main task",
    "unit_correlations": "cosine between each main unit and its auxiliary one",
    "magnitude": "factor on the main task's coefficients",
}
LAYERS = {"first": ("unit", "input"), "first_plus": ("input",), "first_minus": ("input",), "second": ("output", "unit"),
          "second_plus": ("output", "input"), "second_minus": ("output", "input")}  # fmt: skip
"""{array of a network: its dimensions}."""


def problems(p, shard):
    """One network per seed. ReLU networks are one batch; each diagonal network is its own, for diagonal networks of one
    batch must share their inputs, and each seed has different ones."""
    rules, diagonal = protocols.PRETRAINING[p.network], p.network == "diagonal"
    # Coordinates of a run. With 0 main features it learns the auxiliary task, whose samples are drawn in any case.
    alone = {"network": p.network, "published": "", "rescale": 1.0, "samples": 0} | protocols.dimensions(0, 0.0)
    for seeds in [[seed] for seed in shard.seeds] if diagonal else [shard.seeds]:
        runs = [alone | {"seed": seed} for seed in seeds]
        drawn = [draws.draw_diagonal(run) if diagonal else draws.draw_relu(run, switches=p.ours) for run in runs]
        problem = pose(p, drawn, rules, [False] * len(seeds))
        yield Batch(problem, {"seed": seeds}, lambda trained: layers(trained.weights) | of_training(trained), MEANING)


def pose(p, drawn, rules, to_the_end, outputs=("main",)):
    """The `Problem` of networks `drawn`, a `Drawn` each, which learn the tasks `outputs` by the same `rules`.

    Those that are not to be trained `to_the_end`, a truth value each, have a budget. Each has its own inputs; diagonal
    networks, which must be of one seed, share theirs."""
    kind = type(drawn[0].start)
    layers = [np.stack(arrays) for arrays in zip(*(vars(one.start).values() for one in drawn), strict=True)]
    if p.rounded:
        layers = [np.nextafter(layer, np.float32(np.inf)) for layer in layers]
    together, sets = (drawn, np.arange(len(drawn))) if kind is relu.Weights else (drawn[:1], np.zeros(len(drawn), int))

    def task(name):
        X = np.stack([getattr(one, name)[0] for one in together])
        return Samples(X, np.stack([getattr(one, name)[1] for one in drawn]), sets)

    return Problem(
        tasks=[task(name) for name in outputs],
        start=kind(*layers),
        test=task("test"),
        rules=rules,
        last=np.where(to_the_end, rules.epochs, min(rules.epochs, p.budget)),
        tolerance=np.full(len(drawn), rules.tolerance),
        generators=[one.generator for one in drawn],
        teacher=np.stack([one.teacher for one in drawn]),
    )


def layers(weights):
    """Variables of the weights (runs, …) of networks."""
    return single_precision({
        name: (("run", *LAYERS[name]), array, f"weights: {name.replace('_', ' ')}")
        for name, array in vars(weights).items()
    })  # fmt: skip
