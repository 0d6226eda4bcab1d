"""The metadata of a crate: a Provenance Run Crate (profile 0.5, on RO-Crate 1.1) of the jobs that the records tell of.

Each rule is a step of the workflow, whose tool is the rule's script. Each job is one CreateAction: its instrument is
the script, its object the inputs and parameters, its result the outputs. Who ran a job is not recorded, so no action
names an agent. See https://www.researchobject.org/workflow-run-crate/profiles/0.5/provenance_run_crate/.
"""

import hashlib
import json
from datetime import datetime, timedelta
from pathlib import Path, PurePath
from urllib.parse import quote

import yaml
from rocrate.model.computationalworkflow import ComputationalWorkflow
from rocrate.model.contextentity import ContextEntity
from rocrate.rocrate import ROCrate

from carryover.provenance.job_record import record_digest
from carryover.provenance.record_index import commits

RUN_CONTEXT = "https://w3id.org/ro/terms/workflow-run/context"
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/ro/wfrun/provenance/0.5": "Provenance Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
_FORMATS = {
    ".nc": "application/x-netcdf", ".json": "application/json", ".png": "image/png", ".svg": "image/svg+xml",
    ".pdf": "application/pdf", ".md": "text/markdown", ".tex": "application/x-tex", ".yaml": "application/yaml",
    ".py": "text/x-python", ".tsv": "text/tab-separated-values", ".csv": "text/csv", ".html": "text/html",
    ".npz": "application/zip", ".npy": "application/octet-stream", ".safetensors": "application/octet-stream",
}  # fmt: skip


def describe(contents):
    """The `ROCrate` of a crate's `Contents`; nothing is written."""
    crate = ROCrate(version="1.1")
    crate.metadata.extra_contexts.append(RUN_CONTEXT)
    _describe_root(crate, contents.jobs)
    for place in sorted(contents.files):
        _add_file(crate, place, *contents.files[place], contents)
    _add_workflow(crate, _add_tools(crate, contents.jobs), contents.jobs)
    _add_values(crate, contents.jobs)
    actions = [_add_action(crate, record, contents) for record in contents.jobs]
    actions.append(_add_run(crate, contents))
    crate.root_dataset["mentions"] = actions
    for entity in crate.get_entities():  # RO-Crate wants a list of one as that one
        facts = entity.properties()
        facts.update({key: value[0] for key, value in facts.items() if isinstance(value, list) and len(value) == 1})
    return crate


def _add(crate, identifier, **properties):
    """A contextual entity; `type` stands for @type."""
    kind = properties.pop("type")
    return crate.add(ContextEntity(crate, identifier, properties={"@type": kind, **properties}))


def _describe_root(crate, jobs):
    cited = yaml.safe_load(Path("CITATION.cff").read_text(encoding="utf-8"))
    root = crate.root_dataset
    root["name"] = cited["title"]
    root["description"] = f"Results of {len(jobs)} jobs, with their inputs, code, records and the workflow of the jobs."
    root["keywords"] = ", ".join(cited["keywords"])
    root["datePublished"] = max(_times(record)[1] for record in jobs)
    root["author"] = [
        _add(crate, f"#author-{number}", type="Organization", name=author["name"])
        if "name" in author
        else _add(crate, f"#author-{number}", type="Person", name=f"{author['given-names']} {author['family-names']}")
        for number, author in enumerate(cited["authors"])
    ]
    licence = f"https://spdx.org/licenses/{cited['license']}"
    root["license"] = _add(crate, licence, type="CreativeWork", name=cited["license"], url=licence)
    root["conformsTo"] = [
        _add(crate, identifier, type="CreativeWork", name=name, version=identifier.rpartition("/")[2])
        for identifier, name in PROFILES.items()
    ]


def _add_file(crate, place, source, sha256, contents):
    facts = {
        "name": place,
        "sha256": sha256,
        "contentSize": str(source.stat().st_size),
        "encodingFormat": _FORMATS.get(PurePath(place).suffix, "text/plain"),
    }
    if place == "README.md":
        facts["about"] = {"@id": "./"}
    if (told := place.removesuffix(".json")) != place and told in contents.files:
        facts["about"] = {"@id": quote(told)}
    if place + ".json" in contents.files:
        facts["subjectOf"] = {"@id": quote(place + ".json")}
    crate.add_file(source, place, properties=facts)


def _add_tools(crate, jobs):
    """{rule: its script}, with the parameters that its jobs have and the software that they loaded."""
    tools = {}
    for rule in sorted({record["rule"] for record in jobs}):
        own = [record for record in jobs if record["rule"] == rule]
        tool = tools[rule] = crate.get(f"scripts/{rule}.py")
        tool.properties()["@type"] = ["File", "SoftwareSourceCode"]
        tool["version"] = _version(own)
        pythons = sorted({record["environment"]["python"] for record in own})
        tool["programmingLanguage"] = [_add_software(crate, *python.split(" ", 1)) for python in pythons]
        loaded = {pair for record in own for pair in record["environment"]["versions"].items()}
        tool["softwareRequirements"] = [_add_software(crate, *pair) for pair in sorted(loaded)]
        names = sorted({name for record in own for name in _asked(record)})
        kind = {"type": "FormalParameter", "additionalType": "PropertyValue"}
        tool["input"] = [_add(crate, f"#{rule}/{name}", name=name, **kind) for name in names]
    return tools


def _version(jobs):
    """The commits of the code that ran, or where there was no repository its digests."""
    return ", ".join(commits(jobs) or sorted({f"sha256:{record['code']['digest']}" for record in jobs}))


def _add_software(crate, name, version):
    python = name == "cpython"
    page = f"https://www.python.org/downloads/release/python-{version.replace('.', '')}/"
    page = page if python else f"https://pypi.org/project/{name}/{quote(version)}/"
    kind = "ComputerLanguage" if python else "SoftwareApplication"
    return crate.get(page) or _add(crate, page, type=kind, name=name, url=page, version=version)


def _add_workflow(crate, tools, jobs):
    facts = {**crate.get("Snakefile").properties(), "@type": [*ComputationalWorkflow.TYPES, "HowTo"]}
    workflow = crate.add_workflow(Path("Snakefile"), "Snakefile", main=True, lang="snakemake", properties=facts)
    workflow["name"], workflow["version"] = crate.root_dataset["name"], _version(jobs)
    workflow["hasPart"] = list(tools.values())
    workflow["step"] = [
        _add(crate, f"#step/{rule}", type="HowToStep", name=rule, workExample=tool) for rule, tool in tools.items()
    ]


def _add_action(crate, record, contents):
    """The CreateAction of one job, named by the digest of its record."""
    rule = record["rule"]
    values = [{"@id": _value_id(rule, *pair)} for pair in _asked(record).items()]
    return _action(
        crate,
        f"#job/{record_digest(record)}",
        [record],
        name=f"{rule} {min(record['outputs'])}",
        description=f"One job of the rule {rule}: {' '.join(record['command'])}",
        instrument={"@id": f"scripts/{rule}.py"},
        object=[*_files(record["inputs"], contents), *values],
        result=_files(record["outputs"], contents),
    )


def _add_run(crate, contents):
    """The CreateAction of the workflow as a whole: from what no job made to what no job reads."""
    read = {name for record in contents.jobs for name in record["inputs"]}
    made = {name for record in contents.jobs for name in record["outputs"]} & contents.names.keys()
    return _action(
        crate,
        "#run",
        contents.jobs,
        name="The workflow",
        description="All jobs, which may have run at different times and places, as the workflow orders them.",
        instrument={"@id": "Snakefile"},
        object=_files(sorted(read - made), contents),
        result=_files(sorted(made - read), contents),
    )


def _action(crate, identifier, jobs, **facts):
    """A CreateAction, which lasted from the start of the first job to the end of the last."""
    starts, ends = zip(*map(_times, jobs), strict=True)
    facts |= {"startTime": min(starts), "endTime": max(ends)}
    return _add(crate, identifier, type="CreateAction", actionStatus="http://schema.org/CompletedActionStatus", **facts)


def _asked(record):
    """Parameters and seeds by name."""
    return {**record["parameters"], **({"seeds": record["seeds"]} if record["seeds"] else {})}


def _add_values(crate, jobs):
    """The PropertyValue of every parameter of every job; jobs with the same value share it."""
    # A dictionary, since the crate looks through all that it has for what it has not.
    values = {
        _value_id(record["rule"], name, value): (record["rule"], name, value)
        for record in jobs
        for name, value in _asked(record).items()
    }
    for identifier, (rule, name, value) in values.items():
        shown = value if isinstance(value, str | int | float) else json.dumps(value, sort_keys=True)
        kind = {"type": "PropertyValue", "exampleOfWork": {"@id": f"#{rule}/{name}"}}
        _add(crate, identifier, name=name, value=shown, **kind)


def _value_id(rule, name, value):
    text = json.dumps(value, sort_keys=True)
    return f"#{rule}/{name}/{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def _files(names, contents):
    return [{"@id": quote(contents.names[name])} for name in names if name in contents.names]


def _times(record):
    """Start and end of a job, in ISO 8601."""
    start = datetime.fromisoformat(record["volatile"]["start"])
    return tuple(
        moment.isoformat(timespec="seconds")
        for moment in (start, start + timedelta(seconds=record["volatile"]["duration"]))
    )
