"""The runs of a shard of finetuning: which target each one learns, beside which source."""

import numpy as np

from carryover.errors import UserError
from carryover.families.contract import crossed
from carryover.families.deep_linear import task
from carryover.streams import generator

RELATIONS = ("angle", "stretch", "leading", "trailing")
# What the runs of a relation differ in besides; of the others they have none.
READ = {
    "angle": ("angle", "target_norm"),
    "stretch": ("stretch", "deviation"),
    "leading": ("deviation",),
    "trailing": ("deviation",),
}


def columns(p, seeds):
    """{coordinate: (runs,) values} of every run of the parameters, in a fixed order; NaN for what it does not have.

    Raises UserError for a difference within leading directions where there are none, or in others where all are.
    """
    if p.relation in ("leading", "trailing") and not 0 < p.leading < p.dimension:
        raise UserError(f"relation {p.relation} needs leading from 1 to below dimension, not {p.leading}.")
    names = (*READ[p.relation], "source_norm", "noise", "ridge", "weight_decay")
    runs = crossed(seed=seeds, **{name: getattr(p, name) for name in names})
    lacking = {name for read in READ.values() for name in read} - runs.keys()
    nothing = np.full(len(runs["seed"]), np.nan)
    return runs | dict.fromkeys(sorted(lacking), nothing) | {"relation": np.full(len(nothing), p.relation)}


def targets(p, experiment, runs):
    """Coefficients of the targets, (runs, d)."""
    return np.stack([_target(p, experiment, {name: values[r] for name, values in runs.items()})
                     for r in range(len(runs["seed"]))])  # fmt: skip


def _target(p, experiment, run):
    source, other = task.directions(p, experiment, int(run["seed"]))
    if p.relation == "angle":
        theta = np.pi * run["angle"]
        return run["target_norm"] * (np.cos(theta) * source + np.sin(theta) * other)
    rest = generator(experiment, "", int(run["seed"]), "deviation").standard_normal(p.dimension)
    if p.relation == "stretch":
        return run["source_norm"] * (run["stretch"] * source + run["deviation"] * rest / np.sqrt(p.dimension))
    rest[p.leading :] *= p.relation == "trailing"
    rest[: p.leading] *= p.relation == "leading"
    return run["source_norm"] * (source + run["deviation"] * rest / np.linalg.norm(rest))
