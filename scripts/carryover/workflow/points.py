"""The points of an experiment, which are its combinations of axes' values, and the batches of them that jobs train.

A batch's axes are spelled in its path (`protocol~finetuning_solver~exact`, axes sorted). Nothing large is imported.
"""

import math
import os
from dataclasses import dataclass
from itertools import product

from carryover.config import parameters
from carryover.config.artifacts import STAGES
from carryover.config.parameters import Model, about, applies, in_words
from carryover.errors import UserError

MOST = "CARRYOVER_MOST_SHARDS"
"""Environment variable: how many jobs of training a configuration may make, 5000 where it says nothing."""


class SweepError(UserError):
    """The configuration asks for something contradictory; the message is one sentence naming the key."""


def refuse_too_many(where, count, why):
    """SweepError for more jobs of training than Snakemake takes in reasonable time, before they are listed."""
    most = os.environ.get(MOST, "5000")
    if not most.isdecimal():
        raise SweepError(f"the environment variable {MOST} is {most!r}: it must be a whole number.")
    if count > int(most):
        raise SweepError(f"{where} {why} make {count} jobs of training, of which at most {most} are allowed: "
                         f"let each do more, or set {MOST}={count}.")  # fmt: skip


@dataclass(frozen=True)
class Point:
    """One combination of values of the axes: all its parameters, and those that its command line names."""

    axes: dict
    parameters: Model
    named: dict
    source: "Point | None"
    modules: tuple

    @property
    def name(self):
        return spelled(self.axes)


@dataclass(frozen=True)
class Batch:
    """What a job of a stage trains, without its seeds: points with one solver, which start from at most one source."""

    name: str
    points: tuple

    @property
    def source(self):
        return next((point.source.name for point in self.points if point.source), None)

    @property
    def modules(self):
        return tuple(dict.fromkeys(module for point in self.points for module in point.modules))


def spelled(axes):
    """The name of a point or batch with these axes in paths."""
    return "_".join(f"{k}~{v}" for k, v in sorted(axes.items())) or "all"


def batches_of_stages(experiment, spec):
    """{stage: {name: Batch}} of an experiment, from its section of the configuration; SweepError."""
    pretrained = _points(experiment, spec, STAGES[0], {})
    finetuned = _points(experiment, spec, STAGES[1], pretrained)
    apart = set(spec.split) - spec.measures.keys()
    return {
        STAGES[0]: {name: Batch(name, (point,)) for name, point in pretrained.items()},
        STAGES[1]: {n: Batch(n, (p,)) for n, p in finetuned.items()} if apart else _together(finetuned.values()),
    }


def _together(points):
    """{name: Batch} of points by solver and source; those from scratch join the one source of their solver, if it has
    just one."""
    sources = {}
    for point in points:
        if point.source:
            sources.setdefault(point.axes["solver"], {})[point.source.name] = point.source
    groups = {}
    for point in points:
        solver = point.axes["solver"]
        (source,) = [point.source] if point.source or len(sources.get(solver, {})) != 1 else sources[solver].values()
        inherited = {f"pretrain_{k}": v for k, v in source.axes.items()} if source else {}
        groups.setdefault(spelled({**inherited, "solver": solver}), []).append(point)
    return {name: Batch(name, tuple(group)) for name, group in sorted(groups.items())}


def _points(experiment, spec, stage, sources):
    """{name: Point} of a stage, in the order of their axes' values: nothing hangs on the order of lists and grids."""
    section = getattr(spec, stage)
    if section is None:
        return {}
    where = f"experiments.{experiment}.{stage}"
    model = parameters.model_of(f"families.{spec.family}", stage)
    task = spec.task or {}
    _refuse_unknown(parameters.model_of(f"families.{spec.family}", "task"), task, f"experiments.{experiment}.task")
    common = {name: value for name, value in section.items() if name != "grids"}
    shared = parameters.model_of(f"families.{spec.family}", "task")
    _refuse_unknown(model, common, where, shared)
    points, read = {}, set()
    for name, grid in grids(section, where).items():
        place = f"{where}.grids.{name}" if name else where
        _refuse_unknown(model, grid, place, shared)
        own, read_here = _grid(model, {**task, **common, **grid}, spec, stage, sources, place)
        if twice := own.keys() & points.keys():
            raise SweepError(f"{where}: two grids ask for {min(twice)}; let one of them differ or leave it out.")
        _refuse_unread(model, grid.keys() - read_here, place)
        points, read = points | own, read | read_here
    _refuse_unread(model, common.keys() - read, where)
    return dict(sorted(points.items(), key=lambda item: sorted(item[1].axes.items())))


def grids(section, where=""):
    """{name: its own parameters} of the grids of a stage's section, or one without a name."""
    found = (section or {}).get("grids", {"": {}})
    if not isinstance(found, dict) or not found or not all(isinstance(one, dict) for one in found.values()):
        raise SweepError(f"{where}.grids: it must be sections of parameters by name.")
    return found


def _refuse_unknown(model, section, where, without=parameters.Model):
    allowed = [name for name in model.model_fields if name not in without.model_fields]
    if unknown := [name for name in section if name not in allowed]:
        raise SweepError(f"configuration: {where}: unknown key {unknown[0]}; allowed here: {', '.join(allowed)}.")


def _refuse_unread(model, unread, where):
    for name in sorted(unread):
        rule = in_words(about(model, name, "when"))
        raise SweepError(f"{where}.{name} is read only where {rule}, which no job of this section is.")


def _grid(model, section, spec, stage, sources, where):
    """({name: Point}, names of what any of them reads) of one grid: a product over axes and over what `split` names."""
    split = [name for name in model.model_fields if about(model, name, "axis") or name in spec.split]
    axes = {name: section.get(name, model.model_fields[name].default) for name in split}
    lists = {name: list(value) if isinstance(value, list | tuple) else [value] for name, value in axes.items()}
    if twice := [name for name, values in lists.items() if len(set(map(str, values))) < len(values)]:
        raise SweepError(f"configuration: {where}.{twice[0]}: a value is given twice.")
    count = math.prod(map(len, lists.values())) * max(1, len(sources))
    refuse_too_many(f"{where}:", count, f"all values of {', '.join(lists)}")
    family = f"carryover.families.{spec.family}"
    points, read = {}, set()
    for values in product(*lists.values()):
        chosen = dict(zip(lists, values, strict=True))
        asked = {name: value for name, value in (section | chosen).items()
                 if applies(about(model, name, "when"), chosen)}  # fmt: skip
        p = parameters.read(model, asked, f"configuration: {where}.")
        own = {name: _single(getattr(p, name)) for name in split if name in asked}
        named = {name: getattr(p, name) for name, field in model.model_fields.items()
                 if name in own or (name in asked and getattr(p, name) != field.default)}  # fmt: skip
        modules = (f"{family}.{stage}", *(f"{family}.{own[key]}" for key in ("solver",) if key in own))
        for source in _sources(model, chosen, sources, stage, where):
            inherited = {f"pretrain_{k}": v for k, v in source.axes.items()} if source else {}
            point = Point({**inherited, **own}, p, named, source, modules)
            points[point.name] = point  # combinations that differ in what they do not read are one
        read |= asked.keys()
    return points, read


def _single(value):
    return value[0] if isinstance(value, tuple) else value


def _sources(model, chosen, sources, stage, where):
    """The points of pretraining from which a point with these axes' values starts; else a lone None."""
    if stage == STAGES[0] or not model.STARTS_FROM or not applies(model.STARTS_FROM, chosen):
        return [None]
    if not sources:
        asked = ", ".join(f"{k} {v}" for k, v in chosen.items())
        raise SweepError(f"{where} with {asked} starts from pretraining: add `pretrain:`.")
    return list(sources.values())
