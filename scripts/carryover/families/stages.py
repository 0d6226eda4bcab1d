"""A stage of any family: its problems are built, solved, and assembled to one dataset.

A family is a folder carryover/families/<family>/, found by its name:

    parameters.py                what can be set: models `Task`, `Pretrain(Task)` and `Finetune(Task)`
    pretrain.py, finetune.py     `problems(p, shard)` of each stage: a generator of `Batch`
    solvers.py                   a `Solver` for each value of the parameter `solver`, of that name
    labels.json                  labels of coordinates that only its runs have: see `carryover.labels`
    views.py                     `views(problem, p)`, where runs can be forecast: see `families.forecasts`

The models have the axis `solver`; `Finetune` also the axis `protocol`, `STARTS_FROM`, {axis: its values for which a run
starts from a pretrained network}, and `KEEPS`, the variables of its datasets that measures need. A family whose loss is
not the squared error says so as `loss`. Models refuse parameters that contradict each other.

A stage poses problems and a solver solves them; `run` does the rest for all families.
"""

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike

from carryover.config import plugins
from carryover.config.parameters import parameter_schema
from carryover.errors import UserError
from carryover.streams import generator
from carryover.training.result import Divergence, Trained

MEANING = {
    "seed": "seed of teacher, data and weights",
    "overlap": "fraction of the main task's features that are auxiliary ones",
    "rescale": "factor on the weights before training",
    "samples": "main-task samples",
    "protocol": "what is trained, from which start",
    "solver": "how it was solved",
    "loss_function": "loss that was minimised; the risk is its test error: for cross_entropy the share misclassified",
    "pretrain_solver": "how the pretrained network was solved",
    "output": "readout",
}
CURVES = {
    "loss": "loss",
    "risk": "risk",
    "effective_features": "effective number of main features",
    "l1_norm": "ℓ1 norm of the main task's coefficients",
    "group_norm": "ℓ1,2 norm of all tasks' coefficients",
}
MEASURED = {
    "learning_rate": "step of gradient descent",
    "at_rest": "1 where training came to rest above its tolerance",
    "ridge_strength": "ridge strength in units of the kernel's mean eigenvalue",
    "validation_loss": "mean squared error on samples held out, by cross-validation",
}
SIZES = {"dimension": "input", "width": "unit", "teacher_units": "teacher_unit"}
"""{parameter: dimension of the pretrained dataset that it is the size of}."""

Variables = dict[str, tuple[str | tuple[str, ...], np.ndarray, str]]
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
        """`law(rng, *arguments)` of each seed's generator of `stream` and `condition`, see `streams`: (seeds, …)."""
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
class Batch:
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
    meaning: Mapping[str, str | Sequence[str]] = dataclasses.field(default_factory=dict)
    outputs: Sequence[str] = ("main",)
    attributes: Mapping[str, Any] = dataclasses.field(default_factory=dict)


Solver = Callable[..., Trained]
"""A function of (problem, p) in solvers.py that trains the networks of a `Batch`, in its runs' order.

It raises Divergence for runs that leave the finite numbers, UserError where the problem has no such solution.
`PORTABLE` in solvers.py, {solver: promise on other processors}, names solvers that promise less than rounding (see
`provenance.job_record.PORTABLE`).
"""

Problems = Callable[[Any, Shard], Iterator[Batch]]
"""The function `problems` in pretrain.py or finetune.py: the batches of a shard with parameters `p`, each of which is
solved before the next is taken. It raises UserError where the parameters have no such problem."""


def run(p: Any, experiment: str, seeds: Sequence[int], pretrained: xr.Dataset | None = None) -> xr.Dataset:
    """Pose and solve the problems of a shard.

    Parameters
    ----------
    p : parameters of a family's stage, its model `Pretrain` or `Finetune`
    experiment, seeds, pretrained : those of the `Shard`

    Returns
    -------
    xarray.Dataset
        With the dimension `run`, whose coordinates describe each run; every variable has a `long_name` and `units`.

    Raises
    ------
    UserError
        The pretrained networks are missing, superfluous or others, a training diverged, or what stage and solver raise.
    """
    _check_start(p, seeds, pretrained)
    shard = Shard(experiment, list(seeds), pretrained)
    shared = {name: getattr(p, name) for name in ("protocol", "solver") if hasattr(p, "protocol")}
    shared["loss_function"] = getattr(p, "loss", "squared")
    # pretrain_<axis>: one value in all networks of a shard, which runs from scratch do not have
    pretraining = {f"pretrain_{name}": about["description"] for name, about in _pretraining_axes(p).items()}
    if pretrained is not None:
        shared |= {name: pretrained[name].values[0] for name in pretraining}
    elif not hasattr(p, "protocol"):
        shared |= {name: getattr(p, name.removeprefix("pretrain_")) for name in pretraining}
    solved, solve = [], solver(p)
    for batch in stage(p)(p, shard):
        columns = {name: np.asarray(values) for name, values in {**batch.runs, **shared}.items()}
        count = max(values.size for values in columns.values())
        columns = {name: values if values.ndim else np.full(count, values) for name, values in columns.items()}
        try:
            trained = solve(batch.problem, p)
            variables = batch.variables(trained)
            if hasattr(p, "protocol"):  # pretraining may have no risk
                _check_risk(variables)
            if getattr(p, "forecast", False) and p.starts_pretrained:
                variables |= plugins.load("carryover.families.forecasts").forecast_problem(batch.problem, p)
        except Divergence as error:  # who trains knows their indices alone
            raise Divergence(error.runs, error.what, columns) from error
        solved.append((columns, variables))  # without the problem, whose data are large
    if not solved:
        raise UserError(f"no run is asked of the seeds {', '.join(map(str, seeds))}: put more into a `block`")
    # Of all batches, one after the other; variables without runs are the same in all, and are taken from the last.
    joined = {name: (dims, values) for name, (dims, values, _) in variables.items()}
    for name, (dims, _) in joined.items():
        if "run" in (dims, dims[0]):  # one name, or a tuple of names
            joined[name] = dims, np.concatenate([own[name][1] for _, own in solved])
    runs = {name: ("run", np.concatenate([own[name] for own, _ in solved])) for name in columns}
    data = xr.Dataset(joined, {**runs, "output": list(batch.outputs)}, batch.attributes)
    meanings = {**pretraining, **MEANING, **batch.meaning, **{name: text for name, (_, _, text) in variables.items()}}
    for key, variable in data.variables.items():
        meaning = meanings[str(key)]
        label, unit = (meaning, "1") if isinstance(meaning, str) else meaning
        variable.attrs = {"long_name": label, "units": unit}
    return data


def stage(p: Any) -> Problems:
    """The problems of the stage whose parameters these are."""
    return _module(p, type(p).__name__.lower()).problems


def solver(p: Any) -> Solver:
    """The solver that the parameters of a stage name."""
    return getattr(_module(p, "solvers"), p.solver)


def portable(p: Any) -> str:
    """What the solver of these parameters promises on other processors."""
    return getattr(_module(p, "solvers"), "PORTABLE", {}).get(p.solver, "rounding")


def of_training(trained: Trained) -> Variables:
    """Variables of a `Trained`, without its weights."""
    curve = ("run", "checkpoint")
    return {
        "loss": ("run", trained.loss, "loss on the training data"),
        "evaluations": ("run", trained.evaluations, "gradient evaluations"),
        "converged": ("run", trained.converged.astype(np.int8), "1 where the loss reached its tolerance"),
        "risk_final": ("run", trained.risk_final, "risk at the end of training"),
        "risk_best": ("run", trained.risk_best, "smallest risk along training"),
        **{name: ("run", values, MEASURED[name]) for name, values in trained.measured.items()},
        "time": (curve, trained.time, "flow time of the checkpoint"),
        **{f"{k}_curve": (curve, v, f"{CURVES[k]} along training") for k, v in trained.curves.items()},
    }


def single_precision(variables: Variables) -> Variables:
    """The same variables in single precision."""
    return {name: (dims, np.asarray(values, np.float32), text) for name, (dims, values, text) in variables.items()}


def _check_risk(variables):
    """Raise Divergence for runs of `Variables` whose training converged, but whose final risk is infinite or NaN."""
    converged, risk = (np.asarray(variables[name][1]) for name in ("converged", "risk_final"))
    undefined = np.flatnonzero((converged == 1) & ~np.isfinite(risk))
    if undefined.size:
        raise Divergence(undefined.tolist(), "the risk is no finite number where training converged,")


def _check_start(p, seeds, pretrained):
    """Raise UserError if the dataset `pretrained` is missing, not used by the protocol, of other `SIZES`, or lacks one
    of the `seeds`, or of the values that `p` lists for one of its coordinates."""
    if (pretrained is not None) != p.starts_pretrained:
        remedy = "name their shard with --pretrained" if p.starts_pretrained else "leave --pretrained out"
        start = "pretrained networks" if p.starts_pretrained else "scratch"
        raise UserError(f"{getattr(p, 'protocol', 'pretraining')} starts from {start}: {remedy}.")
    if pretrained is None:
        return
    for name, dimension in SIZES.items():
        if hasattr(p, name) and (found := pretrained.sizes.get(dimension)) not in (getattr(p, name), None):
            raise UserError(f"{name} is {getattr(p, name)}, but the pretrained networks have {found}.")
    several = {name: values for name, values in p if isinstance(values, tuple) and name in pretrained.coords}
    for name, values in {"seed": seeds, **several}.items():
        known = np.unique(pretrained[name].values).tolist()
        if missing := [value for value in values if value not in known]:
            raise UserError(f"the pretrained shard has the {name} {known}, but not {missing}.")


def _pretraining_axes(p: Any) -> dict[str, dict[str, Any]]:
    """{axis of pretraining: its schema} of the family whose parameters these are."""
    schema = parameter_schema(plugins.load(type(p).__module__).Pretrain)
    return {name: about for name, about in schema.items() if about["axis"]}


def _module(p: Any, name: str) -> Any:
    """A module of the family whose parameters these are."""
    return plugins.load(f"{type(p).__module__.rpartition('.')[0]}.{name}")
