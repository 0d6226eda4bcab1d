"""The JSON schema of the configuration, for editors."""

from typing import Any

from carryover.config import parameters, plugins
from carryover.config.artifacts import STAGES
from carryover.config.configuration import Configuration
from carryover.config.parameters import about, kind_of


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
