"""The points of an experiment, which are its combinations of axes' values, and the batches of them that jobs train.

A batch's axes are spelled in its path (`protocol~finetuning_solver~exact`, axes sorted). Standard library only.
"""

import math
import os
from dataclasses import dataclass, field
from itertools import product

from carryover.config.artifacts import STAGES
from carryover.config.canonical import canonical, typed
from carryover.config.parameters import applies, in_words
from carryover.errors import UserError

MOST = "CARRYOVER_MOST_SHARDS"
"""Environment variable: how many jobs of training a configuration may make, 5000 where it says nothing."""


class SweepError(UserError):
    """The configuration asks for something contradictory; the message is one sentence naming the key."""


def refuse_too_many(where, count, why):
    """SweepError for more jobs of training than Snakemake takes in reasonable time, before they are listed."""
    said = os.environ.get(MOST, "5000")
    if not said.isdecimal():
        raise SweepError(f"the environment variable {MOST} is {said!r}: it must be a whole number.")
    if count > int(said):
        raise SweepError(f"{where} {why} make {count} jobs of training, of which at most {said} are allowed: "
                         f"let each do more, or set {MOST}={count}.")  # fmt: skip


def recorded(files):
    """Results, each with its record."""
    return [path for file in files for path in (file, f"{file}.json")]


class Wildcards(dict):
    """Values by name, as attributes too: what Snakemake hands to functions of wildcards."""

    __getattr__ = dict.__getitem__


@dataclass(frozen=True)
class Point:
    """One combination of values of the axes: its parameters as they are configured, and those in canonical form."""

    axes: dict
    values: dict
    asked: dict
    source: "Point | None" = None
    modules: tuple = field(default=())

    @property
    def name(self):
        return spelled(self.axes)


@dataclass(frozen=True)
class Batch:
    """What a job of a stage trains, without its seeds: points with one solver, which start from at most one source."""

    name: str
    points: tuple

    @property
    def upstream(self):
        return next((point.source.name for point in self.points if point.source), None)

    @property
    def modules(self):
        return tuple(dict.fromkeys(module for point in self.points for module in point.modules))


def spelled(axes):
    """The name of a point or batch with these axes in paths."""
    return "_".join(f"{k}~{v}" for k, v in sorted(axes.items())) or "all"


def batches_of_stages(experiment, spec, definitions):
    """{stage: {name: Batch}} of an experiment, from its section and the schema's definitions; SweepError."""
    pretrained = _Stage(experiment, spec, STAGES[0], definitions, {}).points()
    finetuned = _Stage(experiment, spec, STAGES[1], definitions, pretrained).points()
    apart = set(spec.get("split", [])) - set(spec.get("measures", {}))
    return {
        STAGES[0]: {name: Batch(name, (point,)) for name, point in pretrained.items()},
        STAGES[1]: _together(finetuned.values()) if not apart else {n: Batch(n, (p,)) for n, p in finetuned.items()},
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


class _Stage:
    """One stage of an experiment; `sources` are the points that it may start from."""

    def __init__(self, experiment, spec, stage, definitions, sources):
        self.spec, self.stage, self.sources = spec, stage, sources
        self.where = f"experiments.{experiment}"
        self.fragment = definitions[f"{spec['family']}.{stage}"]
        self.kinds = self.fragment["properties"]

    def points(self):
        """{name: Point}, in the order of their axes' values: nothing hangs on the order of lists and grids."""
        if self.stage not in self.spec:
            return {}
        where = f"{self.where}.{self.stage}"
        section = self.spec[self.stage] or {}
        common = {k: v for k, v in section.items() if k != "grids"}
        points, read = {}, set()
        for name, grid in section.get("grids", {"": {}}).items():
            own = {point.name: point for point in self._grid({**self.spec.get("task", {}), **common, **grid})}
            for twice in own.keys() & points.keys():
                raise SweepError(f"{where}: two grids ask for {twice}; let one of them differ or leave it out.")
            read_here = set().union(*(point.values for point in own.values()))
            self._refuse_unread(f"{where}.grids.{name}", grid.keys() - read_here)
            points, read = points | own, read | read_here
        self._refuse_unread(where, common.keys() - read)
        return dict(sorted(points.items(), key=lambda item: sorted(item[1].axes.items())))

    def _refuse_unread(self, where, unread):
        for name in sorted(unread):
            rule = in_words(self.kinds[name].get("when", {}))
            raise SweepError(f"{where}.{name} is read only where {rule}, which no job of this section is.")

    def _grid(self, section):
        """The points of one grid: a product over its axes, and over what `split` names."""
        kinds, family = self.kinds, f"carryover.families.{self.spec['family']}"
        section = {name: section[name] for name in kinds if name in section}  # the order of the flags is the code's
        several = {name: kind["several"] for name, kind in kinds.items() if "several" in kind}
        split = [name for name in several if several[name] == "jobs" or name in self.spec.get("split", [])]
        axes = {name: typed(section.get(name, kinds[name]["default"]), kinds[name]) for name in split}
        lists = {name: len(values) for name, values in axes.items() if isinstance(values, list)}
        count = math.prod(lists.values()) * max(1, len(self.sources))
        refuse_too_many(f"{self.where}.{self.stage}:", count, f"all values of {', '.join(lists)}")
        for values in product(*(v if isinstance(v, list) else [v] for v in axes.values())):
            chosen = dict(zip(axes, values, strict=True))
            plain = {k: v for k, v in section.items() if k not in axes and applies(kinds[k].get("when", {}), chosen)}
            own = {k: v for k, v in chosen.items() if applies(kinds[k].get("when", {}), chosen)}
            merged = {name: {**plain, **own}[name] for name in kinds if name in plain or name in own}
            modules = (f"{family}.{self.stage}", *(f"{family}.{own[key]}" for key in ("solver",) if key in own))
            for source in self._starts(chosen):
                inherited = {f"pretrain_{k}": v for k, v in source.axes.items()} if source else {}
                asked = canonical(merged, kinds, keep=own)
                yield Point({**inherited, **own}, merged, asked, source, modules)

    def _starts(self, chosen):
        """The points of the stage before, where this point starts from one; else a lone None."""
        starts_from = self.fragment.get("starts_from", {})
        if self.stage == STAGES[0] or not starts_from or not applies(starts_from, chosen):
            return [None]
        if not self.sources:
            asked = ", ".join(f"{k} {v}" for k, v in chosen.items())
            raise SweepError(f"{self.where}: {self.stage} with {asked} starts from pretraining: add `pretrain:`.")
        return list(self.sources.values())
