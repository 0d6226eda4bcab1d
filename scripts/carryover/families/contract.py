"""The interface of a network family: what its stages and solvers take and return.

A family is a folder carryover/families/<family>/, found by its name:

    parameters.py                what can be set: models `Task`, `Pretrain(Task)` and `Finetune(Task)`
    pretrain.py, finetune.py     a `Stage` each
    <solver>.py                  a `Solver` for each value of the parameter `solver`, imported by the jobs that name it
    labels.json                  labels of coordinates that only its runs have: see `carryover.labels`

A stage poses problems and a solver solves them; `stages.run` does the rest for all families.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Protocol, cast

import numpy as np
import xarray as xr

from carryover.config import plugins
from carryover.errors import UserError
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

    def check_sizes(self, sizes: Mapping[str, tuple[str, int]]) -> None:
        """Refuse pretrained networks of another size, UserError; `sizes` is {parameter: (dimension, its size)}."""
        if self.pretrained is None:
            return
        for name, (dimension, size) in sizes.items():
            if (found := self.pretrained.sizes[dimension]) != size:
                raise UserError(f"{name} is {size}, but the pretrained networks have {found}.")

    def rows(self, **runs: Sequence) -> np.ndarray:
        """Indices (runs,) of the pretrained networks that have these coordinates, (runs,) values each; UserError where
        there are none."""
        assert self.pretrained is not None  # runs from scratch look nothing up
        pretrained = list(zip(*(self.pretrained[name].values.tolist() for name in runs), strict=True))
        places = {run: place for place, run in enumerate(pretrained)}
        wanted = list(zip(*runs.values(), strict=True))
        for run in wanted:
            if run not in places:
                words = ", ".join(f"{name} {value}" for name, value in zip(runs, run, strict=True))
                raise UserError(f"the pretrained shard has no network of {words}.")
        return np.array([places[run] for run in wanted])


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
        What distinguishes the runs; `protocol`, `solver` and `loss` are added from the parameters.
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


class Stage(Protocol):
    """The module pretrain.py or finetune.py of a family.

    Its model in parameters.py has the axis `solver`; in finetuning also the axis `protocol`, and `STARTS_FROM`, {axis:
    its values for which a run starts from a pretrained network}. It refuses parameters that contradict each other.
    finetune.py may say `EXACT_RISK = True` where its risk is over all inputs.
    """

    __name__: str

    def problems(self, p: Any, shard: Shard) -> Iterator[Piece]:
        """The pieces of a shard with parameters `p`, each of which is solved before the next is taken.

        Raises UserError where the parameters have no such problem.
        """


class Solver(Protocol):
    """The module of a solver. `PORTABLE` names its promise on other processors, see `provenance.portability`."""

    __name__: str

    def solve(self, problem: Any, p: Any, progress: Callable[[Mapping[str, float]], None] | None = None) -> Trained:
        """Train the networks of a `Piece`, in the order of its runs; `progress` takes {"step": …, "active": …}.

        Raises Divergence for runs that leave the finite numbers, and UserError where the problem has no such solution.
        """


def stage(family: str, name: str) -> Stage:
    """The module pretrain or finetune of a family."""
    return cast(Stage, plugins.load(f"carryover.families.{family}.{name}"))


def solver(family: str, name: str) -> Solver:
    """The module of a solver of a family."""
    return cast(Solver, plugins.load(f"carryover.families.{family}.{name}"))
