"""Runs of an archived experiment, drawn at random and trained again by today's code.

Random streams are named by experiment, condition, seed and purpose, so a run draws the same numbers whatever is trained
with it: a seed of a block is trained alone here, with one value of every list of conditions.
"""

import dataclasses
import math

import numpy as np
import xarray as xr

from carryover import archive
from carryover.config import parameters, plugins
from carryover.errors import UserError
from carryover.families import contract, stages
from carryover.provenance import portability

OVERHEAD = 0.5
"""Processor seconds that the cheapest run takes."""


@dataclasses.dataclass(frozen=True)
class Run:
    """Seeds, one as a rule, of a finetuned point, with the `values` to which lists of its parameters are narrowed.

    `seconds` is the recorded processor time of its jobs, in proportion to the runs that are trained.
    """

    experiment: str
    measure: str
    point: str
    seeds: tuple
    values: dict
    seconds: float


def compared_measure(sweep, experiment):
    """The measure of an experiment that is compared: risk, or the first that it has; None where it has none."""
    measures = sweep.config["experiments"][experiment].get("measures", {})
    return "risk" if "risk" in measures else next(iter(measures), None)


def draw(sweep, experiment, data, rng):
    """A random `Run` of an experiment of a `Sweep`: one seed, and one value of each list that is a coordinate of its
    archived dataset `data`."""
    measure, blocks = compared_measure(sweep, experiment), sweep.blocks(experiment)
    recorded = archive.record(sweep.config["archive"], experiment, measure)["seconds"]
    point = str(rng.choice(list(sweep.points(experiment, "finetune"))))
    block = int(rng.choice(list(blocks)))
    values, seconds = {}, 0.0
    for stage, name in reversed(_stages(sweep, experiment, point)):
        share = 1 / len(blocks[block])
        for coordinate, listed in _lists(sweep, experiment, stage, name, data).items():
            values.setdefault(coordinate, listed[rng.integers(len(listed))])
            share /= len(listed)
        known = recorded.get(stage, {})
        # The archive may have been made in other jobs than today's: then all jobs count alike.
        jobs = known.get(name) or [job for jobs in known.values() for job in jobs] or [0.0]
        seconds += share * (jobs[block] if len(jobs) == len(blocks) else float(np.mean(jobs)))
    seed = int(rng.choice(blocks[block]))
    return Run(experiment, measure, point, (seed,), values, max(seconds, OVERHEAD))


def count(sweep, experiment, data):
    """How many different runs there are to draw."""
    seeds, total = sweep.config["experiments"][experiment]["seeds"], 0
    for point in sweep.points(experiment, "finetune"):
        lists = {}
        for stage, name in _stages(sweep, experiment, point):
            lists |= _lists(sweep, experiment, stage, name, data)
        total += seeds * math.prod(map(len, lists.values()))
    return total


def enlarges_rounding(sweep, run):
    """Whether a solver of a `Run` promises no more than the distribution (`provenance.portability`)."""
    stages = _stages(sweep, run.experiment, run.point)
    modules = [module for stage, point in stages for module in sweep.points(run.experiment, stage)[point].modules]
    for module in modules:
        plugins.load(module)
    return portability.promised(modules) == "distribution"


def rounding(sweep, run):
    """Relative rounding of the numbers that a `Run` trains in: single precision where a stage descends in it."""
    posed = [_posed(sweep, run.experiment, *one, run.values) for one in _stages(sweep, run.experiment, run.point)]
    return float(np.finfo("float32" if any(map(_single, posed)) else "float64").eps)


def retrain(sweep, run, perturbation=0.0):
    """The measured dataset of a `Run`, by today's code, in memory.

    With a `perturbation` each stage starts from weights that differ by this share.
    """
    spec, trained = sweep.config["experiments"][run.experiment], None
    for stage, point in _stages(sweep, run.experiment, run.point):
        p = _posed(sweep, run.experiment, stage, point, run.values)
        solve = contract.solver(spec["family"], p.solver).solve
        solve = _perturbed(solve, perturbation) if perturbation else solve
        trained = stages.run(contract.stage(spec["family"], stage), p, run.experiment, run.seeds, solve, trained)
    measure = plugins.load(f"carryover.measures.{run.measure}")
    p = parameters.read(parameters.model_of("measures", run.measure), spec["measures"][run.measure], "")
    return measure.measure(trained, p)


def told_apart(data: xr.Dataset) -> bool:
    """Whether no two runs of a dataset have the same coordinates."""
    columns = [data[name].values.tolist() for name in data.coords if data[name].dims == ("run",)]
    return len(set(map(repr, zip(*columns, strict=True)))) == data.sizes["run"]


def archived_rows(data: xr.Dataset, now: xr.Dataset) -> xr.Dataset:
    """The runs of archived `data` with the coordinates of the runs of `now`; UserError where one is missing."""
    names = [name for name in now.coords if now[name].dims == ("run",) and name in data.coords]
    places = []
    for run in range(now.sizes["run"]):
        found = np.ones(data.sizes["run"], dtype=bool)
        for name in names:
            value, known = now[name].values[run], data[name].values
            found &= (known == value) | ((known != known) & (value != value))  # NaN is what a run does not have
        if found.sum() != 1:
            raise UserError(f"the archive has {found.sum()} runs with {spelled(now.isel(run=run))}, in place of one.")
        places.append(int(np.flatnonzero(found)[0]))
    return data.isel(run=places)


def spelled(network: xr.Dataset) -> str:
    """The coordinates of one run in words, without those that it does not have."""
    known = {name: value.item() for name, value in network.coords.items() if value.ndim == 0}
    return ", ".join(f"{name}={value}" for name, value in known.items() if value not in ("", None) and value == value)


def _stages(sweep, experiment, point):
    """[(stage, point)] from pretraining on."""
    source = sweep.points(experiment, "finetune")[point].source
    return [*([("pretrain", source.name)] if source else []), ("finetune", point)]


def _lists(sweep, experiment, stage, point, data):
    """{name: values} of the parameters of a point with several values that are coordinates of the archived `data`."""
    listed = vars(_posed(sweep, experiment, stage, point, {}))
    return {n: v for n, v in listed.items() if isinstance(v, tuple) and len(v) > 1 and n in data.coords}


def _posed(sweep, experiment, stage, point, values):
    """The `Parameters` of a point of a stage, with lists narrowed to those of the `values` that they have."""
    p = sweep.points(experiment, stage)[point].parameters
    several = {name: value for name, value in p if isinstance(value, tuple)}
    return p.model_copy(update={n: (v,) for n, v in values.items() if v in several.get(n, ())})


def _single(p):
    return p.solver == "descent" and getattr(p, "precision", "") == "float32"


def _perturbed(solve, size):
    """A solver whose problems start from weights with a random relative change of `size`, or of one rounding of the
    numbers that it trains in, where that is more."""

    def changed(weights, least, rng):
        if callable(weights):  # a function of the run
            return lambda run: changed(weights(run), least, np.random.default_rng(run))
        if isinstance(weights, dict):
            return {name: changed(one, least, rng) for name, one in weights.items()}
        if dataclasses.is_dataclass(weights):
            return dataclasses.replace(weights, **changed(vars(weights), least, rng))
        values = np.asarray(weights)
        if values.dtype.kind != "f":  # no start, or a count
            return weights
        values = values * (1 + max(least, np.finfo(values.dtype).eps) * rng.standard_normal(values.shape))
        return values if isinstance(weights, np.ndarray) else weights.new_tensor(values)

    def solved(problem, p, progress=None):
        least = float(np.finfo(np.float32).eps) if _single(p) else size
        starts = {"start", "starts", "state"} & {field.name for field in dataclasses.fields(problem)}
        rng = np.random.default_rng(0)
        new = {name: changed(getattr(problem, name), least, rng) for name in sorted(starts)}
        return solve(dataclasses.replace(problem, **new), p, progress)

    return solved
