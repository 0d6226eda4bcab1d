"""Runs of an archived experiment, drawn at random and trained again by today's code.

Random streams are named by experiment, condition, seed and purpose, so a run draws the same numbers whatever is trained
with it: a seed of a block is trained alone here, with one value of every list of conditions.
"""

import dataclasses
from functools import cached_property

import numpy as np
import pandas as pd
import xarray as xr

from carryover import archive
from carryover.config import parameters, plugins
from carryover.errors import UserError
from carryover.families import contract, stages

OVERHEAD = 0.5
"""Processor seconds that the cheapest run takes."""


@dataclasses.dataclass(frozen=True)
class Run:
    """Seeds, one as a rule, of a finetuned point of an experiment of a `Sweep`.

    `stages` is [(stage, its `Point`, its parameters with one value of every list)] from pretraining on, and `seconds`
    the recorded processor time of its jobs, in proportion to what is trained.
    """

    sweep: object
    experiment: str
    seeds: tuple
    stages: list
    seconds: float

    @cached_property
    def chaotic(self):
        """Whether a solver promises no more than the distribution (`provenance.portability`)."""
        return any(contract.portable(p) == "distribution" for _, _, p in self.stages)

    @property
    def rounding(self):
        """Relative rounding of the numbers that it trains in."""
        single = any(p.solver == "descent" and getattr(p, "precision", "") == "float32" for _, _, p in self.stages)
        return float(np.finfo("float32" if single else "float64").eps)


def compared_measure(spec):
    """The measure of an experiment that is compared: risk, or the first that it has; None where it has none."""
    return "risk" if "risk" in spec.measures else next(iter(spec.measures), None)


def draw(sweep, experiment, data, rng):
    """A random `Run` of an experiment: one seed, and one value of each list that is a coordinate of its archived
    dataset `data`."""
    measure, blocks = compared_measure(sweep.typed.experiments[experiment]), sweep.blocks(experiment)
    recorded = archive.record(sweep.archive, experiment, measure)["seconds"]
    point = rng.choice(list(sweep.points(experiment, "finetune").values()))
    block = blocks[int(rng.choice(list(blocks)))]
    values, seconds, trained = {}, 0.0, []
    for stage, posed in (("finetune", point), ("pretrain", point.source)):
        if posed is None:
            continue
        lists = {n: v for n, v in posed.parameters if isinstance(v, tuple) and len(v) > 1 and n in data.coords}
        for name, several in lists.items():
            values.setdefault(name, several[rng.integers(len(several))])
        narrowed = {n: (values[n],) for n, v in posed.parameters if isinstance(v, tuple) and values.get(n) in v}
        trained.insert(0, (stage, posed, posed.parameters.model_copy(update=narrowed)))
        # The archive may have been made in other jobs than today's: then all jobs count alike.
        known = recorded.get(stage, {})
        jobs = known.get(posed.name) or [job for jobs in known.values() for job in jobs] or [0.0]
        seconds += float(np.mean(jobs)) / len(block) / np.prod([len(several) for several in lists.values()])
    return Run(sweep, experiment, (int(rng.choice(block)),), trained, max(seconds, OVERHEAD))


def retrain(run):
    """The measured dataset of a `Run`, by today's code, in memory."""
    spec, trained = run.sweep.typed.experiments[run.experiment], None
    for _, _, p in run.stages:
        trained = stages.run(p, run.experiment, run.seeds, trained)
    measure = compared_measure(spec)
    p = parameters.read(parameters.model_of("measures", measure), spec.measures[measure], "")
    return plugins.load(f"carryover.measures.{measure}").measure(trained, p)


def distinguishable(data: xr.Dataset) -> bool:
    """Whether no two runs of a dataset have the same coordinates."""
    return _index(data, _coordinates(data)).is_unique


def archived_rows(data: xr.Dataset, now: xr.Dataset) -> xr.Dataset:
    """The runs of archived `data` with the coordinates of the runs of `now`; UserError where one is missing."""
    names = _coordinates(data)
    places = _index(data, names).get_indexer(_index(now, names))
    if missing := np.flatnonzero(places < 0).tolist():
        raise UserError(f"the archive has no run with {spelled(now.isel(run=missing[0]))}.")
    return data.isel(run=places)


def _coordinates(data):
    return sorted(name for name in data.coords if data[name].dims == ("run",))


def _index(data, names):
    """Index of the runs of a dataset by coordinates; one that it lacks is NaN."""
    absent = [np.nan] * data.sizes["run"]
    columns = [pd.Series(data[name].values if name in data.coords else absent) for name in names]
    return pd.MultiIndex.from_arrays([column.replace("", np.nan) for column in columns])


def spelled(network: xr.Dataset) -> str:
    """The coordinates of one run in words, without those that it does not have."""
    known = {name: value.item() for name, value in network.coords.items() if value.ndim == 0}
    return ", ".join(f"{name}={value}" for name, value in known.items() if value not in ("", None) and value == value)
