"""The points of an experiment, which are its combinations of axes' values, and the batches of them that jobs train.

A batch's axes are spelled in its path (`protocol~finetuning_solver~exact`, axes sorted). `experiment` is the name of an
experiment, and `spec` its section, a `configuration.Experiment`. Nothing large is imported.
"""

from dataclasses import dataclass
from itertools import product

from carryover.config import parameters, plugins
from carryover.config.artifacts import STAGES
from carryover.config.configuration import check_known
from carryover.config.parameters import Model, applies, in_words, parameter_schema
from carryover.errors import UserError

NAMED = ("protocol", "solver")
"""Axes that the name of each point has, also at their defaults."""


@dataclass(frozen=True)
class Point:
    """One combination of values of the axes, with all its parameters and the point that it starts from."""

    axes: dict
    parameters: Model
    source: "Point | None"

    @property
    def name(self):
        return format_axes(self.axes)


def format_axes(axes):
    """The name of a point or batch with these axes in paths."""
    return "_".join(f"{k}~{v}" for k, v in sorted(axes.items())) or "all"


def batches_of_stages(experiment, spec):
    """{stage: {name of a batch: list of the `Point`s that a job trains}} of an experiment; UserError for a section that
    asks for nothing, or for what is not known.

    The points of a job have one solver, and start from at most one source.
    """
    check_known(spec.family, plugins.names("families"), f"experiments.{experiment}.family")
    models = [plugins.model_of(f"families.{spec.family}", stage) for stage in STAGES]
    lists = {name for model in models for name, about in parameter_schema(model).items() if "items" in about}
    for split in spec.split:
        check_known(split, ["protocol", *sorted(lists), *spec.measures], f"experiments.{experiment}.split")
    effective: set = set()  # (section, parameter) whose value a point reads
    pretrained = _points(experiment, spec, STAGES[0], {}, effective)
    finetuned = _points(experiment, spec, STAGES[1], pretrained, effective)
    for name in sorted(spec.task or {}):
        if (where := f"experiments.{experiment}.task", name) not in effective:
            raise UserError(f"{where}.{name} does nothing: no job reads it, or each stage and grid sets its own.")
    pretraining, separate = ({name: [point] for name, point in points.items()} for points in (pretrained, finetuned))
    # Measures in `split` make jobs that measure. Anything else there makes jobs that train: one for each point.
    if set(spec.split) - spec.measures.keys():
        return {STAGES[0]: pretraining, STAGES[1]: separate}
    together: dict = {}  # by solver and source; points from scratch join the source of their solver, if it has only one
    for point in finetuned.values():
        solver = point.axes["solver"]
        sources = {other.source.name: other.source for other in finetuned.values()
                   if other.source and other.axes["solver"] == solver}  # fmt: skip
        source = point.source or (next(iter(sources.values())) if len(sources) == 1 else None)
        together.setdefault(format_axes({**_pretraining_axes(source), "solver": solver}), []).append(point)
    return {STAGES[0]: pretraining, STAGES[1]: dict(sorted(together.items()))}


def _pretraining_axes(source):
    """Axes of a finetuned point that say how its source was pretrained; none if it starts from scratch."""
    return {f"pretrain_{name}": value for name, value in source.axes.items()} if source else {}


def _points(experiment, spec, stage, sources, effective):
    """{name: Point} of a stage, sorted by axes, from all grids of its section; empty without the section.

    `sources` are the points that it may start from, by name. What its points read is added to the set `effective` as
    (path of a section, parameter).
    """
    section = getattr(spec, stage)
    if section is None:
        return {}
    where = f"experiments.{experiment}.{stage}"
    model = plugins.model_of(f"families.{spec.family}", stage)
    task, common = spec.task or {}, {name: value for name, value in section.items() if name != "grids"}
    grids = section.get("grids", {"": {}})
    if not isinstance(grids, dict) or not grids or not all(isinstance(grid, dict) for grid in grids.values()):
        raise UserError(f"{where}.grids: it must be sections of parameters by name.")
    points: dict = {}
    given = {(where, name): "" for name in common}  # {(path of section, parameter): its grid, "" outside the grids}
    for grid_name, grid in grids.items():
        grid_path = f"{where}.grids.{grid_name}" if grid_name else where
        given |= {(grid_path, name): grid_name for name in grid}
        sections = (f"experiments.{experiment}.task", task), (where, common), (grid_path, grid)
        paths = {name: path for path, part in sections for name in part}
        grid_points, used = _grid(model, task | common | grid, spec.split, sources, grid_path, paths)
        effective |= {(paths[name], name) for name in used & paths.keys()}
        if twice := grid_points.keys() & points.keys():
            raise UserError(f"{where}: two grids ask for {min(twice)}; let one of them differ or leave it out.")
        points |= grid_points
    for path, name in sorted(given.keys() - effective):
        if others := [other for other, grid in grids.items() if name in grid and not given[path, name]]:
            raise UserError(f"{path}.{name} does nothing: each grid that reads it sets its own ({', '.join(others)}).")
        rule = in_words(parameter_schema(model)[name]["when"])
        raise UserError(f"{path}.{name} is read only where {rule}, which no job of this section is.")
    return dict(sorted(points.items(), key=lambda item: sorted(item[1].axes.items())))


def _grid(model, section, split, sources, where, paths):
    """({name: Point} of one grid, names of the parameters that any point uses): the product of axes and sources.

    `section` has the parameters of the grid at `where`, laid over those of the stage and of the task. `split` names
    parameters that become axes as well. `paths` is {parameter: section of the configuration in which it stands}.
    """
    fields = parameter_schema(model)
    axes = [name for name, about in fields.items() if about["axis"] or name in split]
    values = {name: section.get(name, fields[name]["default"]) for name in axes}
    values = {name: list(value) if isinstance(value, list | tuple) else [value] for name, value in values.items()}
    if empty := [name for name, value in values.items() if not value]:
        raise UserError(f"{paths[empty[0]]}.{empty[0]}: an empty list asks for nothing; give at least one value.")
    points: dict = {}
    used: set = set()
    for combination in product(*values.values()):
        chosen = dict(zip(axes, combination, strict=True))
        # Unknown names stay, for `read` to refuse; parameters that this point does not read go.
        given = {name: value for name, value in (section | chosen).items()
                 if name not in fields or applies(fields[name]["when"], chosen)}  # fmt: skip
        p = parameters.read(model, given, f"configuration: {where}.", paths)
        named = [name for name in axes if name in (*NAMED, *section) or values[name][1:]]  # others are at their default
        coordinates = {name: getattr(p, name) for name in named if name in given}
        coordinates = {name: value[0] if isinstance(value, tuple) else value for name, value in coordinates.items()}
        if p.starts_pretrained and not sources:
            words = ", ".join(f"{name} {value}" for name, value in chosen.items())
            raise UserError(f"{where} with {words} starts from pretraining: add `pretrain:`.")
        for source in sources.values() if p.starts_pretrained else [None]:
            point = Point({**_pretraining_axes(source), **coordinates}, p, source)
            points[point.name] = point  # equal for combinations that differ only in parameters that they do not use
        used |= given.keys()
    return points, used
