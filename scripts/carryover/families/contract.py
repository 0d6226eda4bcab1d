"""What a network family offers, and what its stages and solvers take and return.

A family is a folder carryover/families/<family>/, found by its name:

    parameters.py                what can be set: models `Task`, `Pretrain(Task)` and `Finetune(Task)`
    pretrain.py, finetune.py     a `Stage` each
    <solver>.py                  a `Solver` for each value of the parameter `solver`, imported by the jobs that name it
    labels.json                  labels of coordinates that only its runs have: see `carryover.labels`

A stage poses problems, a solver solves them, and what lies between is the same for all: `running.run`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Protocol

import numpy as np
import xarray as xr

from carryover.config import plugins
from carryover.config.parameters import model_of
from carryover.errors import UserError
from carryover.training.result import Trained

Variables = Mapping[str, tuple[str | tuple[str, ...], np.ndarray, str]]
"""Variables of a dataset by name: their dimensions, values and meaning. Nearly all have the dimension `run`."""


@dataclasses.dataclass(frozen=True)
class Shard:
    """What a job trains, besides its parameters.

    `experiment` and `seeds` are what random generators derive from. `pretrained` is the dataset of pretraining where
    the stage's `STARTS_FROM` asks for one.
    """

    experiment: str
    seeds: Sequence[int]
    pretrained: xr.Dataset | None = None

    def check_sizes(self, sizes: Mapping[str, tuple[str, int]]) -> None:
        """Refuse pretrained networks of another size.

        Args:
            sizes: by the parameter that says it, the dimension of the pretrained dataset and its size.

        Raises:
            UserError: A size differs.
        """
        there = {} if self.pretrained is None else self.pretrained.sizes
        for name, (dimension, size) in sizes.items():
            if there and there[dimension] != size:
                raise UserError(f"{name} is {size}, but the pretrained networks have {there[dimension]}.")

    def rows(self, **runs: Sequence) -> np.ndarray:
        """Places (runs,) of the pretrained networks that have these coordinates, (runs,) values each."""
        assert self.pretrained is not None  # nothing is looked for where runs start from scratch
        known = list(zip(*(self.pretrained[name].values.tolist() for name in runs), strict=True))
        return np.array([known.index(run) for run in zip(*runs.values(), strict=True)])


def crossed(**axes: Sequence) -> dict[str, np.ndarray]:
    """{name: (runs,) values} of a run for each combination of the axes' values, the last axis fastest."""
    return {
        name: np.array(values) for name, values in zip(axes, zip(*product(*axes.values()), strict=True), strict=True)
    }


@dataclasses.dataclass(frozen=True)
class Piece:
    """Runs of a shard that are solved together.

    `problem` is what the family's solvers take. `runs` are the coordinates by which its runs are told apart, (runs,)
    values each, or one value for all; what the parameters `protocol`, `solver` and `loss` say need not be among them.
    `variables` makes of what was trained what is kept of it. `meaning` says in words what coordinates are, with a unit
    if they have one, and `outputs` names the readouts. `attributes` are the dataset's.
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
        """The pieces of a shard, in the order of its dataset.

        Args:
            p: the stage's parameters.
            shard: experiment, seeds, and the pretrained networks if it starts from such.

        Returns:
            An iterator of `Piece`; each is solved before the next is asked for.

        Raises:
            UserError: What is asked for cannot be done.
        """


class Solver(Protocol):
    """The module of a solver. `PORTABLE` says what it promises elsewhere where that is not rounding: see
    `provenance.portability`."""

    __name__: str

    def solve(self, problem: Any, p: Any, progress: Callable[[Mapping[str, float]], None] | None = None) -> Trained:
        """Train or solve the networks of a problem.

        Args:
            problem: of a `Piece` of the family.
            p: the stage's parameters.
            progress: told from time to time how far training is, {"step": …, "active": …}.

        Returns:
            The networks, in the order of the problem's runs.

        Raises:
            Divergence: Training left the finite numbers; its runs are indices of the problem's.
            UserError: The problem has no such solution.
        """


def stage(family: str, name: str) -> Stage:
    """The module pretrain or finetune of a family; UserError where it breaks the contract."""
    module = _part(family, name, ("problems",), f"the family {family} is incomplete")
    needed = {"pretrain": {"solver"}, "finetune": {"solver", "protocol"}}[name]
    if missing := sorted(needed - model_of(f"families.{family}", name).model_fields.keys()):
        raise breach(f"carryover.families.{family}.parameters", f"{name} lacks {' and '.join(missing)}")
    return module


def solver(family: str, name: str) -> Solver:
    """The module of a solver of a family; UserError where it breaks the contract."""
    return _part(family, name, ("solve",), f"the family {family} has no solver {name}")


def breach(module: str, what: str) -> UserError:
    """The sentence on a module that does not do what the contract says."""
    return UserError(f"{module.removeprefix('carryover.').replace('.', '/')}.py breaks the contract: {what}.")


def _part(family: str, name: str, offers: Sequence[str], without: str) -> Any:
    path = f"carryover.families.{family}.{name}"
    try:
        module = plugins.load(path)
    except ModuleNotFoundError as error:
        if error.name != path:  # it is there, and something that it imports is not
            raise
        raise UserError(f"{without}: families/{family}/{name}.py is missing.") from None
    if missing := [offer for offer in offers if not hasattr(module, offer)]:
        raise breach(path, f"it lacks {' and '.join(missing)}")
    return module
