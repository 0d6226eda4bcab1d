"""What the configuration may hold: typed models of its sections. Parameters of stages and plug-ins have models of their
own, see `parameters`."""

from difflib import get_close_matches
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeInt,
    PositiveInt,
    ValidationError,
    model_validator,
)

from carryover.config import parameters, plugins
from carryover.config.artifacts import ARTIFACTS, STAGES
from carryover.errors import UserError

RESERVED = ("theory", *(kind.section for kind in ARTIFACTS.values()), "logs")
"""Folders of results that no experiment may have the name of."""


def _check_reserved(name):
    if name in RESERVED:
        raise ValueError(f"{name} is the name of another folder of results")
    return name


Name = Annotated[str, Field(pattern="^[a-z][a-z0-9_]*$"), AfterValidator(_check_reserved)]


def _not_of_workflow(folder):
    if folder.partition("/")[0] in _OWN:
        raise ValueError(f"{folder} is a folder of the workflow itself")
    return folder


_OWN = {"config", "docs", "envs", "profiles", "resources", "rules", "scripts", "tests", "tools", "workflow"}
PATH = r"\w[\w.+-]*(/\w[\w.+-]*)*$"
"""Of characters that have no special meaning in a shell."""
Folder = Annotated[str, Field(pattern=f"^{PATH}", max_length=250), AfterValidator(_not_of_workflow)]
Options = dict[str, Any] | None


class Section(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def parse_numbers(cls, values):
        """`values` with integers in place of the texts that --config gives; only fields of whole numbers are read so,
        and what is no number stays for pydantic to refuse."""
        if not isinstance(values, dict):
            return values
        whole = {name for name, field in cls.model_fields.items() if isinstance(field.default, int) or name == "seeds"}
        return {name: parameters.number(value, "integer") if name in whole else value for name, value in values.items()}


class Pathvars(Section):
    results: Folder = Field("results", description="folder of results and logs")


class Item(Section):
    """A figure, table or theorem of a paper, and what is ours for it."""

    item: str = Field(description="what the paper calls it", min_length=1)
    shows: str = Field(description="what it shows, in a few words", min_length=1)
    figures: list[str] = Field([], description="our figures of it")
    tables: list[str] = Field([], description="our tables of it")
    functions: list[str] = Field([], description="functions of the library that compute it")
    claims: list[str] = Field([], description="claims that it makes, by their names in claims.yaml")
    differs: str = Field("", description="what differs from the paper, and why")


class Paper(Section):
    name: str = Field(description="short name, in tables and headings", min_length=1)
    title: str = Field(min_length=1)
    authors: str = ""
    venue: str = ""
    year: int = 0
    arxiv: str = Field("", description="its number on arXiv")
    heading: str = Field("", description="of a file's figures, in the report")
    overview: str = Field("", description="what holds of it, what does not, and why, for the report's first page")
    items: list[Item] = Field([], description="its figures, tables and theorems, in its order")
    first: str = Field("", description="its figure that says most for little training: `make first` draws it")


class Resources(Section):
    gpu: NonNegativeInt = Field(0, description="GPUs of a training job")
    mem_mb: PositiveInt = Field(2000, le=10**9, description="memory of a training job [MB]")
    runtime: PositiveInt = Field(120, description="time limit of a training job on a cluster [min]")


class Experiment(Section):
    """One experiment. `task`, `pretrain` and `finetune` hold parameters of its family, of which `split` may name some;
    `grids` of a stage hold parameters that add to or override those around them."""

    family: str = Field(description="network family")
    seeds: Annotated[int, Field(ge=1, le=10_000)] = Field(description="number of seeds, of teacher, data and weights")
    block: Annotated[int, Field(ge=1, le=1000)] = Field(6, description="seeds trained together in one job")
    split: list[str] = Field(
        [], description="what makes jobs of its own: parameters with several values, the protocol, and measures"
    )
    resources: Resources = Resources()
    measures: dict[str, Options] = Field({}, description="what is measured on each network")
    task: Options = Field({}, description="parameters that the stages share")
    pretrain: Options = None
    finetune: dict[str, Any]
    paper: str = Field("", description="file of config/papers (default: the one that this stands in)")


class Entry(Section):
    """What uses data: a comparison, a group of claims, a figure or a table."""

    data: dict[str, str] = Field(description="role -> <experiment>/<measure>, theory/<curve>, or a file", min_length=1)
    options: Options = Field({}, description="parameters of what makes it")
    paper: str = Field("", description="file of config/papers (default: the one that this stands in)")


class Comparison(Entry):
    compare: str = Field("", description="what makes it (default: its own name)")


class Claims(Entry):
    check: str = Field("", description="what checks them (default: their own name)")


class Figure(Entry):
    plot: str = Field("", description="what draws it (default: its own name)")
    caption: str = ""
    supported_by: list[Annotated[str, Field(pattern="^[^/]+/[^/]+$")]] = Field(
        [], description="claims that must hold if the title is to be true: <group>/<claim>"
    )


class Table(Entry):
    rows: str = Field("", description="what makes it (default: its own name)")
    caption: str = ""


class Configuration(Section):
    """The whole configuration, with the files of its papers."""

    pathvars: Pathvars = Pathvars()
    papers: dict[str, Paper] = Field({}, description="in config.yaml a list of the files of config/papers to be made")
    archive: Annotated[str, Field(pattern=f"^/?{PATH}")] | None = Field(
        None, description="folder of archived datasets, used where they are what is asked for"
    )
    other_claims: dict[Annotated[str, Field(pattern="^[^=;]+$")], str | None] = Field(
        {}, description="tables of other claims, shown next to those made here: what -> file, or null"
    )
    pdf: bool = Field(True, description="draw each figure as PDF besides PNG")
    experiments: dict[Name, Experiment] = {}
    curves: dict[Name, Options] = Field({}, description="theory curves, which need no training, with their parameters")
    comparisons: dict[Name, Comparison] = {}
    claims: dict[Name, Claims] = {}
    figures: dict[Name, Figure] = {}
    tables: dict[Name, Table] = {}


def validate(config: dict) -> Configuration:
    """The typed configuration; UserError, in one sentence with the key, for what is not allowed.

    Parameters of stages and plug-ins are not looked at: `workflow.points` and `workflow.requests` do, job by job.
    """
    try:
        return Configuration.model_validate(config)
    except ValidationError as error:
        said = parameters.sentence(error, Configuration)
        if said.endswith(": Field required."):  # perhaps a misspelt name, which defines a new, incomplete entry
            section, name, *_ = said.split(".")
            near = get_close_matches(name, [one for one in config[section] if isinstance(one, str) and one != name])
            said = f"{said[:-1]}; {section} of a similar name: {', '.join(near)}." if near else said
        raise UserError(f"configuration: {said}") from None


def check_known(name, there, where):
    """Raise UserError for a name at `where` in the configuration that is not among those that there are."""
    if name not in there:
        raise UserError(f"configuration: {where}: there is no {name}; there are: {', '.join(there) or 'none'}.")


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
    """JSON schema of the section `task`, `pretrain` or `finetune` of an experiment of a family.

    Axes and parameters of several values may be lists or one value. `grids` of a stage hold the same parameters.
    """
    model = plugins.model_of(f"families.{family}", stage)
    own = dict(parameters.parameter_schema(model))
    for name, about in own.items():
        if about["axis"] or "items" in about:
            one = about.get("items", about)
            own[name] = {"anyOf": [one, {"type": "array", "items": one}]}
    grid = {"type": "object", "additionalProperties": False, "properties": own}
    grids = {"grids": {"type": "object", "additionalProperties": grid}} if stage in STAGES else {}
    return {**grid, "type": ["object", "null"], "properties": own | grids}
