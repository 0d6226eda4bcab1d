"""The interface of a network family: what its stages and solvers take and return.

A family is a folder carryover/families/<family>/, found by its name:

    parameters.py                what can be set: models `Task`, `Pretrain(Task)` and `Finetune(Task)`
    pretrain.py, finetune.py     `problems(p, shard)` of each stage: a generator of `Piece`
    solvers.py                   a `Solver` for each value of the parameter `solver`, of that name
    labels.json                  labels of coordinates that only its runs have: see `carryover.labels`

The models have the axis `solver`; `Finetune` also the axis `protocol`, and `STARTS_FROM`, {axis: its values for which a
run starts from a pretrained network}. A family whose loss is not the squared error says so as `loss`. Models refuse
parameters that contradict each other.

A stage poses problems and a solver solves them; `stages.run` does the rest for all families.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike

from carryover.config import plugins
from carryover.errors import UserError
from carryover.streams import generator
from carryover.training.result import Trained

Variables = Mapping[str, tuple[str | tuple[str, ...], np.ndarray, str]]
"""Variables of a dataset by name: their dimensions, values and meaning. Nearly all have the dimension `run`."""


@dataclasses.dataclass(frozen=True)
class Shard:
    """What a job trains, besides its parameters.

    Random generators derive from `experiment` and `seeds`. `pretrained` is the dataset of pretraining, or None where
    the stage's `STARTS_FROM` asks for none.
    """

    experiment: str
    seeds: Sequence[int]
    pretrained: xr.Dataset | None = None

    def draw(self, law: Callable, stream: str, *arguments: Any, condition: Any = "") -> np.ndarray:
        """What `law(rng, *arguments)` draws from a stream of each seed, (seeds, …)."""
        return np.stack([law(generator(self.experiment, condition, seed, stream), *arguments) for seed in self.seeds])

    def places(self, seeds: Sequence[int]) -> np.ndarray:
        """Where seeds (runs,) stand in what `draw` returns, (runs,)."""
        return np.array([self.seeds.index(seed) for seed in seeds])

    def rows(self, **runs: ArrayLike) -> np.ndarray:
        """Indices (runs,) of the pretrained networks that have these coordinates, (runs,) values each; UserError where
        there are none."""
        assert self.pretrained is not None  # runs from scratch look nothing up
        known = pd.MultiIndex.from_arrays([self.pretrained[name].values for name in runs])
        wanted = pd.MultiIndex.from_arrays(list(runs.values()))
        rows = known.get_indexer(wanted)
        if (rows < 0).any():
            words = ", ".join(f"{name} {value}" for name, value in zip(runs, wanted[rows.argmin()], strict=True))
            raise UserError(f"the pretrained shard has no network of {words}.")
        return rows


def cartesian_product(**axes: Sequence) -> dict[str, np.ndarray]:
    """{name: (runs,) values} of one run for each combination of the axes' values, the last axis fastest."""
    columns = zip(*product(*axes.values()), strict=True)
    return {name: np.array(values) for name, values in zip(axes, columns, strict=True)}


@dataclasses.dataclass(frozen=True)
class Piece:
    """Runs of a shard that are solved together.

    Attributes
    ----------
    problem : the argument of the family's solvers
    runs : {coordinate: (runs,) values, or one value for all}
        What distinguishes the runs; protocol, solver and loss are added from the parameters.
    variables : function of what was trained, returning variables of the dataset
    meaning : {coordinate: its meaning, or meaning and unit}
    outputs : names of the readouts
    attributes : {name: value} of the dataset
    """

    problem: Any
    runs: Mapping[str, Any]
    variables: Callable[[Trained], Variables]
    meaning: Mapping[str, str | tuple[str, str]] = dataclasses.field(default_factory=dict)
    outputs: Sequence[str] = ("main",)
    attributes: Mapping[str, Any] = dataclasses.field(default_factory=dict)


Solver = Callable[..., Trained]
"""A function of (problem, p, progress=None) in solvers.py that trains the networks of a `Piece`, in its runs' order.

It calls progress with {"step": …, "active": …}, if there is one, and raises Divergence for runs that leave the finite
numbers, UserError where the problem has no such solution. `PORTABLE` in solvers.py, {solver: promise on other
processors}, names solvers that promise less than rounding (see `provenance.job_record.PORTABLE`).
"""

Problems = Callable[[Any, Shard], Iterator[Piece]]
"""The function `problems` in pretrain.py or finetune.py: the pieces of a shard with parameters `p`, each of which is
solved before the next is taken. It raises UserError where the parameters have no such problem."""


def stage(p: Any) -> Problems:
    """The problems of the stage whose parameters these are."""
    return _module(p, type(p).__name__.lower()).problems


def solver(p: Any) -> Solver:
    """The solver that the parameters of a stage name."""
    return getattr(_module(p, "solvers"), p.solver)


def portable(p: Any) -> str:
    """What the solver of these parameters promises on other processors."""
    return getattr(_module(p, "solvers"), "PORTABLE", {}).get(p.solver, "rounding")


def _module(p: Any, name: str) -> Any:
    """A module of the family whose parameters these are."""
    return plugins.load(f"{type(p).__module__.rpartition('.')[0]}.{name}")
