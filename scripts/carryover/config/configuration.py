"""The configuration's schema, generated from the plug-ins' parameters.

`config/schema.yaml` is what the Snakefile reads: it holds every key, type, range, default and meaning, so that neither
Snakemake nor an editor needs the plug-ins' own imports. `schema(root)` makes it anew from the code.
"""

import importlib
import re

from carryover.config import plugins
from carryover.config.artifacts import MADE_OF_DATA, STAGES
from carryover.config.declarations import declared, roles
from carryover.config.parameters import fragment
from carryover.errors import UserError

NAME = r"^[a-z][a-z0-9_]*$(?!\n)"
_FOLDER = r"^/?\w[\w.+-]*(/\w[\w.+-]*)*$(?!\n)"  # what no shell and no rule takes for something else
# Folders of results that no experiment may have the name of; "benchmarks" is there from earlier versions.
RESERVED = ("theory", *(kind.section for kind in MADE_OF_DATA.values()), "logs", "benchmarks")
_MAKERS = tuple(kind.plugins for kind in MADE_OF_DATA.values() if kind.plugins)  # folders of plug-ins that read roles


def parameters(*names):
    """The schema fragment of the plug-in carryover.<names>: its dataclass `Parameters`.

    Raises UserError, naming the file and the parameter, for one that cannot be a flag and a key.
    """
    module = _module("families", "contract").stage(*names[1:]) if names[0] == "families" else _module(*names)
    section = fragment(declared(module))
    if names[0] == "measures" and (families := getattr(module, "FAMILIES", None)):
        section["families"] = list(families)
    for condition in ("STARTS_FROM", "APPLIES_TO", "NEEDS"):
        if axes := getattr(module, condition, None):
            section[condition.lower()] = {axis: list(values) for axis, values in axes.items()}
    if getattr(module, "SELECTS", False):
        if section["properties"]:
            raise UserError(f"{'/'.join(names)}.py: a measure that SELECTS has no parameters.")
        section["selects"] = True
    return section


def _module(*names):
    """carryover.<names>, by name: who only checks a configuration need not have what plug-ins import."""
    return importlib.import_module(".".join(("carryover", *names)))


def schema():
    """The whole JSON schema of the configuration, as a dictionary."""
    families = plugins.names("families")
    sections = {
        "experiments": _named("#/$defs/experiment", "networks, tasks, sweeps and measures"),
        "curves": _section(
            {c: {"$ref": f"#/$defs/curves.{c}"} for c in plugins.names("curves")},
            "theory curves, which need no training",
        ),
        **{kind.section: _made_of_data(rule, kind) for rule, kind in MADE_OF_DATA.items()},
    }
    folder = {
        "type": "string",
        "pattern": _FOLDER,
        "maxLength": 250,
        "allows": "a folder's path of at most 250 letters, digits and _.+-, whose parts begin with a letter or digit",
        "description": "folder of results and logs",
    }
    pathvars = _section({"results": folder}, "where things are written")
    chosen = {
        "type": ["array", "object"],
        "description": "papers that are to run, by their files in config/papers; or what these say of the papers",
        "items": {"type": "string"},
        "additionalProperties": {"$ref": "#/$defs/paper"},
    }
    archive = {**folder, "type": ["string", "null"], "description": "folder of archived datasets, used where they fit"}
    beside = {
        "type": "object",
        "description": "tables of other claims, shown next to those made here: what -> file, or null",
        "propertyNames": {"type": "string", "pattern": "^[^=;]+$"},
        "additionalProperties": {"type": ["string", "null"]},
    }
    whole = _section(
        {"pathvars": pathvars, "papers": chosen, "archive": archive, "claims_beside": beside, **sections},
        "the whole configuration",
    )
    definitions = {
        **_papers(sections),
        "experiment": _experiment(families),
        **{rule: _entry(rule, kind) for rule, kind in MADE_OF_DATA.items()},
    }
    for family in families:
        definitions[f"{family}.task"] = parameters("families", family, "task")
        for stage in STAGES:
            definitions[f"{family}.{stage}"] = parameters("families", family, stage)
    for folder in ("measures", "curves", *_MAKERS):
        definitions |= {f"{folder}.{name}": parameters(folder, name) for name in plugins.names(folder)}
    definitions |= _roles()
    definitions[MADE_OF_DATA["diagnose"].options(None)] = fragment(
        declared(_module("diagnosis", "diagnosis"), "Options")
    )
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **whole, "$defs": definitions}


def _papers(sections):
    """What a paper's file holds, what that of a part of it, what it says of the paper, and how entries name it."""
    about = {
        "name": "short name, in tables and headings",
        "title": "its title",
        "authors": "who wrote it",
        "venue": "where it was published",
        "year": "when it was published",
        "arxiv": "its number on arXiv",
        "heading": "of a file's figures, in the report",
        "overview": "what holds of it, what does not, and why, for the report's first page",
        "first": "its figure that says most for little training: `make first` draws it",
    }
    texts = {key: {"type": "string", "minLength": 1, "description": said} for key, said in about.items()}
    texts["year"] = {"type": "integer", "description": about["year"]}
    definitions = {
        "file": {"type": "string", "description": "file of config/papers (default: the one that this stands in)"},
        "paper": _section(texts, "what the report and the claims say of a paper", required=("name", "title")),
    }
    for name, own in (("paper_file", {"paper": {"$ref": "#/$defs/paper"}}), ("part_file", {})):
        refs = {"heading": "#/$defs/paper/properties/heading", **{one: f"#/properties/{one}" for one in sections}}
        properties = own | {key: {"$ref": ref} for key, ref in refs.items()}
        definitions[name] = _section(properties, "a file of config/papers", required=own)
    return definitions


def _section(properties, description, required=()):
    section = {"type": "object", "description": description, "additionalProperties": False, "properties": properties}
    return {**section, "required": list(required)} if required else section


def _named(ref, description):
    names = {"type": "string", "pattern": NAME, "not": {"enum": list(RESERVED)}}
    return {
        "type": "object",
        "description": description,
        "propertyNames": names,
        "additionalProperties": {"$ref": ref},
    }


def _experiment(families):
    size = {"type": "integer", "minimum": 1}
    resources = {
        "gpu": {"type": "integer", "minimum": 0, "default": 0, "description": "GPUs of a training job"},
        "mem_mb": {**size, "default": 2000, "description": "memory of a training job [MB]"},
        "runtime": {**size, "default": 120, "description": "time limit of a training job on a cluster [min]"},
    }
    properties = {
        "family": {"type": "string", "enum": families, "description": "network family"},
        "seeds": {**size, "description": "number of seeds: each draws its own teacher, data and weights"},
        "block": {**size, "maximum": 1000, "default": 6, "description": "seeds trained together in one job"},
        "split": {
            "type": "array",
            "items": {"type": "string"},
            "default": [],
            "description": "parameters with several values that are to make a job each instead of sharing one",
        },
        "resources": _section(resources, "what a training job of this experiment asks for"),
        "measures": _section(
            {m: {"$ref": f"#/$defs/measures.{m}"} for m in plugins.names("measures")},
            "what is measured on each network",
        ),
        **{key: {"type": "object"} for key in ("task", *STAGES)},
        "paper": {"$ref": "#/$defs/file"},
    }
    experiment = _section(properties, "one experiment", required=("family", "seeds", "finetune"))
    experiment["allOf"] = [
        {
            "if": {"properties": {"family": {"const": family}}, "required": ["family"]},
            "then": {
                "properties": {
                    "split": {"items": {"enum": _splittable(family)}},
                    "task": {"$ref": f"#/$defs/{family}.task"},
                    **{stage: _gridded(family, stage) for stage in STAGES},
                }
            },
        }
        for family in families
    ]
    return experiment


def _splittable(family):
    """Parameters of which several values share a job unless they are split."""
    stages = [parameters("families", family, stage)["properties"] for stage in STAGES]
    return [name for stage in stages for name, kind in stage.items() if kind.get("several") == "one job"]


def _gridded(family, stage):
    """A stage's section: its parameters, and `grids`, each of which adds to or overrides them."""
    own = parameters("families", family, stage)
    shared = set(parameters("families", family, "task")["properties"])
    ref = f"#/$defs/{family}.{stage}/properties/"
    properties = {name: {"$ref": ref + name} for name in own["properties"] if name not in shared}
    grid = {"type": "object", "additionalProperties": False, "properties": properties}
    grids = {"type": "object", "additionalProperties": grid, "minProperties": 1}
    return {**grid, "properties": {**properties, "grids": grids}}


def _made_of_data(rule, kind):
    """Entries by name: one that is not called like a plug-in has to say which one makes it, where there are any."""
    entry = {"$ref": f"#/$defs/{rule}"}
    if not kind.plugins:
        return _named(entry["$ref"], f"{kind.section} of networks, and the files that they are made of")
    unsaid = {"if": {"not": {"required": [kind.key]}}}
    entries = _named(entry["$ref"], f"{kind.section}, and the datasets that they are made of")
    entries["properties"] = {
        plugin: {"allOf": [entry, {**unsaid, "then": _read_by(kind.plugins, plugin)}]}
        for plugin in plugins.names(kind.plugins)
    }
    return {**entries, "additionalProperties": {"allOf": [entry, {"required": [kind.key]}]}}


def _read_by(folder, plugin):
    """What a plug-in reads of an entry: its options, and data of the roles that it names, or of any."""
    read = {"options": {"$ref": f"#/$defs/{folder}.{plugin}"}}
    if roles(_module(folder, plugin)):
        read["data"] = {"$ref": f"#/$defs/roles.{folder}.{plugin}"}
    return {"properties": read}


def _roles():
    """{roles.<folder>.<plug-in>: the schema of its data}, of plug-ins that name the roles that they read."""
    found = {(folder, name): roles(_module(folder, name)) for folder in _MAKERS for name in plugins.names(folder)}
    return {
        f"roles.{folder}.{name}": {
            "required": list(named[0]),
            "additionalProperties": False,
            "properties": {role: {"type": "string"} for role in (*named[0], *named[1])},
        }
        for (folder, name), named in found.items()
        if named
    }


def _entry(rule, kind):
    """One comparison, figure, claim, table or diagnosis: what makes it, its data, options, and words for the report."""
    if not kind.plugins:
        return _section(
            {
                "data": _activations(),
                "options": {"$ref": f"#/$defs/{kind.section}.options"},
                "paper": {"$ref": "#/$defs/file"},
            },
            f"one {kind.one}",
            required=("data",),
        )
    properties = {
        kind.key: {
            "type": "string",
            "enum": plugins.names(kind.plugins),
            "description": f"how it is made (default: the {rule}'s own name)",
        },
        "data": {
            "type": "object",
            "description": "role -> dataset: <experiment>/<measure>, theory/<curve>, comparisons/<comparison>, or a "
            "file of the project",
            "minProperties": 1,
            "additionalProperties": {"type": "string"},
        },
        "options": {"type": "object"},
        "caption": {"type": "string", "default": "", "description": "caption in the report"},
        "paper": {"$ref": "#/$defs/file"},
    }
    if kind.cites:
        properties["elsewhere"] = {
            "type": "object",
            "description": "claims of other papers: file of config/papers -> names in this group",
            "additionalProperties": {"type": "array", "items": {"type": "string"}},
        }
    if kind.states:
        properties["rests_on"] = {
            "type": "array",
            "description": "claims that must hold if the title is to be true: <group>/<claim>",
            "items": {"type": "string", "pattern": "^[^/]+/[^/]+$"},
        }
    entry = _section(properties, f"one {rule}", required=("data",))
    entry["allOf"] = [
        {
            "if": {"properties": {kind.key: {"const": plugin}}, "required": [kind.key]},
            "then": _read_by(kind.plugins, plugin),
        }
        for plugin in plugins.names(kind.plugins)
    ]
    return entry


def _activations():
    """The files of activations that a diagnosis compares."""
    kinds = _module("diagnosis", "activations", "sources").KINDS
    file = {"type": "string", "pattern": f"({'|'.join(map(re.escape, kinds))})$"}
    words = {
        "pretrained": "file of the activations before finetuning",
        "finetuned": "after it, of the same samples",
        "baseline": "of an unrelated network, such as a re-initialised one, of the same samples",
    }
    files = {role: {**file, "suffixes": list(kinds), "description": said} for role, said in words.items()}
    return _section(files, "activations by layer", required=("pretrained", "finetuned"))
