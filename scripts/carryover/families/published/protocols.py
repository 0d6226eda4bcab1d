"""Which runs were published, and how each was trained: one protocol for each experiment, setup, factor and sample size.

The released scripts (GitHub, sflippl/multi-task) say most of this. Where the released risks contradict them, or a
script was not released, the digits decided, on seed 0. The rate of overlapping tasks is .1, and the coefficients of
nested main tasks are ±1/k. Networks from scratch are rescaled in both layers (diagonal ones: the first layer twice),
finetuned ones in the first (diagonal ones in both). Rates fall with large factors. No rate was fitted to any other run.
"""

from dataclasses import dataclass
from itertools import product
from typing import Any

from carryover.errors import UserError
from carryover.streams import generator
from carryover.training.published import Rules

SETUPS = {
    "single_task": "STL", "multi_task": "MTL", "finetuning": "PT+FT", "single_task_probe": "STL (LR)",
    "finetuning_probe": "PT+FT (LR)", "single_task_kernel": "STL (NTK)", "finetuning_kernel": "PT+FT (NTK)",
}  # fmt: skip
"""{protocol: its name in the published tables}."""
TRAINED, PROBES = ("single_task", "multi_task", "finetuning"), ("single_task_probe", "finetuning_probe")
COSINES = ("0 0 0 0 0 0", "1 1 1 0 0 0", "1 1 1 1 1 0", "1 1 1 1 1 1", "0.9 0.9 0.9 0.9 0.9 0.9", "1 1 0.9 0.9 0 0",
           "1 1 1 0.9 0.9 0", "1 1 1 1 1 0.9")  # fmt: skip


@dataclass(frozen=True)
class Published:
    """An experiment: its setups, conditions, {coordinate: value} of each main task, and factors of rescaling.

    `network` says whose pretrained weights finetuning starts from.
    """

    network: str
    protocols: tuple[str, ...]
    conditions: list[dict[str, Any]]
    factors: tuple[float, ...] = (1.0,)
    samples: tuple[int, ...] = (16, 32, 64, 128, 256, 512)
    seeds: int = 6


def units(cosines, magnitude=1.0):
    """Coordinates of a main task of ReLU units; the overlap is the share of units with an auxiliary one at a cosine."""
    related = [float(cosine) for cosine in cosines.split()]
    overlap = round(sum(cosine != 0 for cosine in related) / len(related), 6)
    return {"main_features": len(related), "overlap": overlap, "unit_correlations": cosines, "magnitude": magnitude}


def dimensions(features, overlap):
    """Coordinates of a main task of diagonal networks."""
    return {"main_features": features, "overlap": overlap, "unit_correlations": "", "magnitude": 1.0}


NESTED = [units(" ".join([cosine] * k)) for k, cosine in product(range(1, 7), "01")]
SPARSE = [dimensions(*task) for task in product((5, 10, 20, 30, 40), (0.0, 1.0))]
EXPERIMENTS = {
    "relu_overlap": Published("relu", tuple(SETUPS), [units(cosines) for cosines in COSINES]),
    "relu_nested": Published("relu", tuple(SETUPS), NESTED),
    "relu_rescaled": Published("relu", ("single_task", "finetuning"), NESTED, (0.01, 0.1, 10.0, 100.0)),
    "relu_magnitude": Published(
        "magnitude", ("single_task", "finetuning"),
        [units(" ".join([cosine] * 6), size)
         for cosine, size in product(("0.8", "0.9", "0.95", "0.99", "1"), (1.0, 0.5, 0.1, 0.05, 0.01))],
        samples=(32, 64, 128, 256, 512, 1024), seeds=1,
    ),
    "diagonal_overlap": Published(
        "diagonal", (*TRAINED, *PROBES), [dimensions(40, overlap) for overlap in (0.0, 0.5, 0.75, 1.0)]),
    "diagonal_nested": Published("diagonal", (*TRAINED, *PROBES), SPARSE),
    "diagonal_rescaled": Published("diagonal", ("single_task", "finetuning"), SPARSE, (0.001, 0.01, 0.1)),
}  # fmt: skip
"""Of the published experiments. Rows of rescaled networks at factor 1 are copies of the nested ones."""

PRETRAINING = {"relu": Rules(0.1, 1e-8, 100_000), "magnitude": Rules(1.0, 1e-6, 100_000),
               "diagonal": Rules(0.5, 1e-10, 1_000_000)}  # fmt: skip
"""Full-batch descent on 1024 samples. That of Fig. 1c was not released: its rate and end are those that come nearest to
the published risks of four runs."""


def rules(experiment, protocol, factor):
    """How the runs of an experiment, protocol and factor were trained on the main task."""
    if experiment.startswith("diagonal"):
        return Rules(0.1, 1e-10, 1_000_000 if experiment == "diagonal_overlap" else 100_000)
    if experiment == "relu_magnitude":  # a rate of 1e6, of outputs times 1e-6: weights of 1e-3 at a rate of 1
        return Rules(1.0, 1e-10, 100_000)
    if protocol == "multi_task":
        return Rules(1.0, 1e-8, 100_000, batch=128)
    return Rules({10.0: 0.01, 100.0: 1e-4}.get(factor, 0.1), 1e-8, 100_000, limit=1000.0, batch=128)


def coefficients(experiment, condition):
    """Sizes of the auxiliary and the main teacher's coefficients."""
    features = condition["main_features"]
    if experiment == "relu_magnitude":
        return 1 / 6, condition["magnitude"] / 6
    return (40 if experiment.startswith("diagonal") else 6) ** -0.5, (
        features**-0.5 if experiment.endswith("overlap") else 1 / features
    )


def runs(experiment, protocol, factor, samples, seeds):
    """{coordinate: value} of each published run of a cell; UserError where there are none."""
    about = EXPERIMENTS[experiment]
    for name, value, known in (("setup", protocol, about.protocols), ("factor", factor, about.factors),
                               ("samples", samples, about.samples)):  # fmt: skip
        if value not in known:
            raise UserError(
                f"no run of {experiment} with {name} {value} was published; known are {', '.join(map(str, known))}."
            )
    cell = {"published": experiment, "rescale": factor, "samples": samples}
    return [
        cell | condition | {"seed": seed}
        for seed, condition in product(seeds, about.conditions)
        if 0 <= seed < about.seeds
    ]


def in_cells(listed, protocol, count, ours):
    """Those of the listed runs that are of `count` cells, and on which a switch in `ours` has an effect.

    A cell is a condition with all its seeds. They were drawn before any was run, from the trained ReLU networks with at
    most 256 samples and factors of at most 10.
    """
    cells = [
        (name, other, run)
        for name, other in product(("relu_overlap", "relu_nested", "relu_rescaled"), ("single_task", "finetuning"))
        for factor, samples in product(EXPERIMENTS[name].factors, EXPERIMENTS[name].samples)
        for run in runs(name, other, factor, samples, [0])
        if factor <= 10 and samples <= 256
    ]
    rng = generator("replay", count, 0, "cells")
    drawn = [cells[place] for place in rng.permutation(len(cells))[:count]]
    without_effect = (
        (protocol == "single_task" and "pretraining" in ours) or (protocol == "finetuning" and "layers" in ours)
    )  # fmt: skip
    return [
        run
        for run in listed
        if (run["published"], protocol, run | {"seed": 0}) in drawn
        and not (without_effect or ("batches" in ours and run["samples"] <= 128))
    ]


def to_the_end(experiment, protocol, factor, samples, count):
    """The runs of a cell, `count` of all published ones, that are trained to their end whatever it takes: (seed,
    condition) pairs, drawn before any was run."""
    every = runs(experiment, protocol, factor, samples, range(EXPERIMENTS[experiment].seeds))
    rng = generator("replay", (experiment, protocol, factor, samples), 0, "sample")
    return [every[place] for place in rng.permutation(len(every))[:count]]
