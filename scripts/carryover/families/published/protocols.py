"""Which runs were published, and how each was trained: one protocol for each experiment, setup, factor and sample size.

The released scripts (GitHub, sflippl/multi-task) say most of this. Where the released risks contradict them, or a
script was not released, the digits decided, on seed 0. The rate of overlapping tasks is .1, and the coefficients of
nested tasks are ±1/k, also those of the auxiliary task where it is learned along (by the digits of five runs). Networks
from scratch are rescaled in both layers (diagonal ones: the first layer twice), finetuned ones in the first (diagonal
ones in both). Rates fall with large factors. No rate was fitted to any other run.
"""

import math
from itertools import product

from carryover.errors import UserError
from carryover.streams import generator
from carryover.training.published import Rules

SETUPS = {
    "single_task": "STL", "multi_task": "MTL", "finetuning": "PT+FT", "single_task_probe": "STL (LR)",
    "finetuning_probe": "PT+FT (LR)", "single_task_kernel": "STL (NTK)", "finetuning_kernel": "PT+FT (NTK)",
}  # fmt: skip
"""{protocol: its name in the published tables}."""
COSINES = ("0 0 0 0 0 0", "1 1 1 0 0 0", "1 1 1 1 1 0", "1 1 1 1 1 1", "0.9 0.9 0.9 0.9 0.9 0.9", "1 1 0.9 0.9 0 0",
           "1 1 1 0.9 0.9 0", "1 1 1 1 1 0.9")  # fmt: skip


def units(cosines, magnitude=1.0):
    """Coordinates of a main task of ReLU units; the overlap is the share of units with an auxiliary one at a cosine."""
    related = [float(cosine) for cosine in cosines.split()]
    overlap = round(sum(cosine != 0 for cosine in related) / len(related), 6)
    return {"main_features": len(related), "overlap": overlap, "unit_correlations": cosines, "magnitude": magnitude}


def dimensions(features, overlap):
    """Coordinates of a main task of diagonal networks."""
    return {"main_features": features, "overlap": overlap, "unit_correlations": "", "magnitude": 1.0}


def experiment(name, network, protocols, tasks, factors=(1.0,), samples=(16, 32, 64, 128, 256, 512), seeds=6):
    """The runs of the published experiment `name`, a list of dicts {coordinate: value}: all combinations of protocols,
    rescaling `factors`, `samples` of the main task, seeds and main `tasks` (dicts of coordinates). `network`, a key of
    `PRETRAINING`, is the kind of pretrained network that finetuning starts from."""
    return [
        {"published": name, "network": network, "protocol": protocol, "setup": SETUPS[protocol], "rescale": factor,
         "samples": n, **task, "seed": seed}
        for protocol, factor, n, seed, task in product(protocols, factors, samples, range(seeds), tasks)
    ]  # fmt: skip


NESTED = [units(" ".join([cosine] * k)) for k, cosine in product(range(1, 7), "01")]
SIMILAR = [units(" ".join([cosine] * 6), magnitude) for cosine, magnitude in product(
    ("0.8", "0.9", "0.95", "0.99", "1"), (1.0, 0.5, 0.1, 0.05, 0.01))]  # fmt: skip
OVERLAPPING = [dimensions(40, overlap) for overlap in (0.0, 0.5, 0.75, 1.0)]
SPARSE = [dimensions(*task) for task in product((5, 10, 20, 30, 40), (0.0, 1.0))]
WHOLE = ("single_task", "finetuning")
DIAGONAL = ("single_task", "multi_task", "finetuning", "single_task_probe", "finetuning_probe")
RUNS = [
    *experiment("relu_overlap", "relu", SETUPS, [units(cosines) for cosines in COSINES]),
    *experiment("relu_nested", "relu", SETUPS, NESTED),
    *experiment("relu_rescaled", "relu", WHOLE, NESTED, factors=(0.01, 0.1, 10.0, 100.0)),
    *experiment("relu_magnitude", "magnitude", WHOLE, SIMILAR, samples=(32, 64, 128, 256, 512, 1024), seeds=1),
    *experiment("diagonal_overlap", "diagonal", DIAGONAL, OVERLAPPING),
    *experiment("diagonal_nested", "diagonal", DIAGONAL, SPARSE),
    *experiment("diagonal_rescaled", "diagonal", WHOLE, SPARSE, factors=(0.001, 0.01, 0.1)),
]
"""The published runs. Rows of rescaled networks at factor 1 are copies of the nested ones."""

PRETRAINING = {"relu": Rules(0.1, 1e-8, 100_000), "magnitude": Rules(1.0, 1e-6, 100_000),
               "diagonal": Rules(0.5, 1e-10, 1_000_000)}  # fmt: skip
"""Full-batch descent on 1024 samples. That of Fig. 1c was not released: its rate and end are those that come nearest to
the published risks of four runs."""


def rules(experiment, protocol, factor):
    """The `Rules` (learning rate, loss tolerance, epochs, …) by which the published runs of an experiment, protocol and
    rescaling factor (a number) were trained on the main task."""
    if experiment.startswith("diagonal"):
        epochs = 1_000_000 if experiment == "diagonal_overlap" else 100_000
        return Rules(0.1, 1e-10, epochs, probe=protocol.endswith("_probe"))
    # Published with outputs times 1e-6 and a rate of 1e6, which equals both layers' weights times 1e-3 at a rate of 1.
    if experiment == "relu_magnitude":
        return Rules(1.0, 1e-10, 100_000)
    if protocol == "multi_task":
        return Rules(1.0, 1e-8, 100_000, batch=128)
    # Networks that are rescaled by large factors need lower rates.
    return Rules({10.0: 0.01, 100.0: 1e-4}.get(factor, 0.1), 1e-8, 100_000, limit=1000.0, batch=128)


def coefficients(run):
    """(auxiliary, main): absolute values of the teachers' coefficients as published, for a run {coordinate: value}.

    A teacher with k features has 1/√k. Exceptions are both tasks where features are nested, 1/k, and the experiment on
    magnitudes: 1/6, for the main task times the run's magnitude. Pretraining has 0 main features: its main value is 1.
    """
    if run["network"] == "magnitude":
        return 1 / 6, run["magnitude"] / 6
    auxiliary, features = 40 if run["network"] == "diagonal" else 6, max(run["main_features"], 1)
    # This auxiliary task is learned in multi-task runs alone. Pretraining is a run of its own, of an experiment "".
    auxiliary_power = -1.0 if run["published"].endswith("nested") else -0.5
    return auxiliary**auxiliary_power, features ** (-0.5 if run["published"].endswith("overlap") else -1.0)


def select(**wanted):
    """The published runs with these values of coordinates (a tuple: any of them; None: any); UserError for one that no
    run has.

    Fractions need only be near: 0.333 is a third.
    """
    found = RUNS
    for name, value in wanted.items():
        known, values = dict.fromkeys(run[name] for run in found), value if isinstance(value, tuple) else (value,)
        chosen = [has for has in known if value is None or has in values
                  or (isinstance(value, float) and math.isclose(has, value, rel_tol=2e-3))]  # fmt: skip
        if not chosen:
            raise UserError(f"no run with {name} {value} was published; known are {', '.join(map(str, known))}.")
        found = [run for run in found if run[name] in chosen]
    return found


def in_cells(listed, count):
    """The runs in the list `listed` that belong to `count` randomly drawn cells.

    A cell is a condition with all its seeds; its run of seed 0 stands for it. Cells are drawn, independently of any
    result, from those in which whole ReLU networks are trained on at most 256 samples, rescaled by at most 10.
    """
    experiments = ("relu_overlap", "relu_nested", "relu_rescaled")
    cells = select(published=experiments, protocol=WHOLE, rescale=(0.01, 0.1, 1.0, 10.0),
                   samples=(16, 32, 64, 128, 256), seed=0)  # fmt: skip
    rng = generator("replay", count, 0, "cells")
    drawn = [cells[place] for place in rng.permutation(len(cells))[:count]]
    return [run for run in listed if run | {"seed": 0} in drawn]


def to_the_end(every, count):
    """Those of all runs of an experiment, setup, factor and number of samples, `count` of them, that are trained to
    their end whatever it takes, drawn before any was run."""
    condition = [every[0][name] for name in ("published", "protocol", "rescale", "samples")]
    rng = generator("replay", condition, 0, "sample")
    return [every[place] for place in rng.permutation(len(every))[:count]]
