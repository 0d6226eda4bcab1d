"""The parameters in written form: a JSON schema for editors, and pages of tables for the documentation."""

from typing import Any

from carryover.config import parameters, plugins
from carryover.config.artifacts import ARTIFACTS, STAGES
from carryover.config.configuration import Configuration
from carryover.config.parameters import Model, about, in_words, kind_of

FOLDERS = {
    "measures": "What is measured on networks",
    "theory.curves": "Theory curves",
    **{kind.plugins: f"What makes {kind.section}" for kind in ARTIFACTS.values()},
}


def schema() -> dict[str, Any]:
    """The JSON schema of the configuration; parameters of a stage depend on the family of its experiment."""
    whole = Configuration.model_json_schema()
    experiment = whole["$defs"]["Experiment"]
    experiment["allOf"] = []
    for family in plugins.names("families"):
        sections = {stage: _section(family, stage) for stage in ("task", *STAGES)}
        condition = {"properties": {"family": {"const": family}}, "required": ["family"]}
        experiment["allOf"].append({"if": condition, "then": {"properties": sections}})
    return whole


def _section(family: str, stage: str) -> dict[str, Any]:
    model = parameters.model_of(f"families.{family}", stage)
    own = model.model_json_schema()["properties"]
    several = [name for name in own if about(model, name, "axis") or kind_of(model, name)[1]]
    one = {name: kind["items"] if kind_of(model, name)[1] else kind for name, kind in own.items()}
    own |= {name: {"anyOf": [one[name], {"type": "array", "items": one[name]}]} for name in several}
    grid = {"type": "object", "additionalProperties": False, "properties": own}
    grids = {"grids": {"type": "object", "additionalProperties": grid}} if stage in STAGES else {}
    return {**grid, "type": ["object", "null"], "properties": own | grids}


def pages() -> dict[str, str]:
    """{file: page} with the tables of all parameters: a page for each family, and for each kind of plug-in."""
    made = {}
    for family in plugins.names("families"):
        task = parameters.model_of(f"families.{family}", "task")
        tables = [_table("task", task, Model)]
        tables += [_table(stage, parameters.model_of(f"families.{family}", stage), task) for stage in STAGES]
        made[f"{family}.md"] = f"# The family `{family}`\n\n" + "\n".join(tables)
    for folder, title in FOLDERS.items():
        models = {name: parameters.model_of(folder, name) for name in plugins.names(folder)}
        made[f"{folder.rpartition('.')[2]}.md"] = f"# {title}\n\n" + "\n".join(
            _table(name, one, Model) for name, one in models.items()
        )
    return made


def _table(name: str, model: type[Model], without: type[Model]) -> str:
    fits = f"For {', '.join(model.FAMILIES)}. " if model.FAMILIES else ""
    where = {**model.APPLIES_TO, **model.NEEDS}
    fits += f"Where {in_words(where)}. " if where else ""
    reads = ", ".join((model.ROLES or ()) + tuple(f"{role} (optional)" for role in model.OPTIONAL_ROLES or ()))
    fits += f"Data: {reads}." if reads else ""
    rows = [_row(key, model) for key in model.model_fields if key not in without.model_fields]
    head = ["| key | meaning | allowed | default | read where |", "|---|---|---|---|---|"] if rows else []
    return "\n".join([f"## `{name}`", "", *([fits, ""] if fits else []), *head, *rows, ""])


def _row(key: str, model: type[Model]) -> str:
    several, kind = kind_of(model, key)[1], model.model_json_schema()["properties"][key]
    unit, axis, when = (about(model, key, what) for what in ("unit", "axis", "when"))
    one = kind["items"] if several else kind
    signs = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤"}
    limits = " and ".join(f"{sign} {one[name]:g}" for name, sign in signs.items() if name in one)
    words = [one["const"]] if "const" in one else one.get("enum")
    allowed = ", ".join(words) if words else f"{one['type']} {limits}".strip()
    allowed += "; several" if several else " (a job each)" if axis else ""
    meaning = kind["description"] + (f" [{unit}]" if unit else "")
    default = " ".join(parameters.words(model.model_fields[key].default))
    cells = (f"`{key}`", meaning, allowed, f"`{default}`" if default else "", in_words(when) or "always")
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
