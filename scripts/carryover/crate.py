"""Results with all that they were made of, as a Provenance Run Crate (profile 0.5, on RO-Crate 1.1).

Each rule is a step of the workflow, whose tool is the rule's script. Each job is one CreateAction: its instrument is
the script, its object the inputs and parameters, its result the outputs. Records do not say who ran a job: its agents
are the authors in CITATION.cff. See https://www.researchobject.org/workflow-run-crate/profiles/0.5/provenance_run_crate/.

`crate` is the `ROCrate`, and `job_records` a list of one record for each job.
"""

import json
import mimetypes
from datetime import datetime, timedelta
from pathlib import Path, PurePath
from urllib.parse import quote

import yaml
from rocrate.model.computationalworkflow import ComputationalWorkflow
from rocrate.model.contextentity import ContextEntity
from rocrate.rocrate import ROCrate

from carryover.errors import UserError
from carryover.provenance import store
from carryover.provenance.job_record import SCRIPTS, json_digest, record_digest, record_path
from carryover.provenance.records import all_records, commits, jobs, upstream
from carryover.workflow import command_line

ROOT = SCRIPTS.parent
PROJECT = (
    "Snakefile", "Makefile", "README.md", "LICENSE", "CITATION.cff",
    "config", "docs", "envs", "profiles", "resources", "rules", "scripts", "workflow",
)  # fmt: skip
RUN_CONTEXT = "https://w3id.org/ro/terms/workflow-run/context"
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/ro/wfrun/provenance/0.5": "Provenance Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}


def main(argv):
    """`crate.py RESULT … --output FILE.zip`: results, or all results in folders, with what they were made of."""
    parser = command_line.parser("crate.py", "Export results with all that they were made of as a Run Crate.")
    parser.add_argument("targets", nargs="+", type=Path, metavar="RESULT", help="results, or folders of them")
    arguments = parser.parse_args(argv)
    records, files = gather(arguments.targets)
    with command_line.job("crate", arguments, sorted(records)) as job:
        describe(records, files).write_zip(job.path(arguments.output[0]))


def gather(targets):
    """Follow results back to the data that they were made of.

    `targets` are results or their records, or folders of them, in the working folder. The result is {path: record} of
    every result and {name in the project: Path} of every file. UserError where no target has a result with a record, or
    a file is not what the record says.
    """
    known: dict = {}
    records: dict = {}
    for folder in {target.parts[0] for target in targets}:
        known |= all_records(folder)
    starts = [target.as_posix().removesuffix(".json") for target in targets]
    for name in known:
        if any(name == start or name.startswith(f"{start}/") for start in starts):
            records |= upstream(name, known)
    records = {name: record for name, record in records.items() if record["rule"] != "crate"}
    if not records:
        raise UserError(f"{', '.join(map(str, targets))}: there is no result with a record to export")
    recorded: dict = {}
    for name, record in records.items():
        recorded |= record["inputs"] | {name: record["outputs"][name]}
    for name, facts in recorded.items():
        if store.sha256(name) != facts["sha256"]:
            raise UserError(f"{name} is not what the records say: run again, or ask audit why")
    # Files of the project, without packed datasets of the archive (.xz): `recorded` has those that results depend on.
    parts = (ROOT / part for part in PROJECT)
    project = (path for part in parts for path in ([part] if part.is_file() else part.rglob("[!.]*")))
    others = [path for path in project if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".xz"]
    files = {path.relative_to(ROOT).as_posix(): path for path in others}
    files |= {path.as_posix(): path for path in map(record_path, records)}
    return records, files | {name: Path(name) for name in recorded}


def describe(records, files):
    """The `ROCrate` of the records and files that `gather` found; nothing is written."""
    crate, places = ROCrate(version="1.1"), {}
    crate.metadata.extra_contexts.append(RUN_CONTEXT)
    for name, file in sorted(files.items()):
        sha256, outside = store.sha256(file), PurePath(name).is_absolute() or ".." in PurePath(name).parts
        # A crate holds no paths outside itself; the hash keeps files of one name apart.
        places[name] = f"external/{sha256[:16]}/{file.name}" if outside else name
        kind = "application/x-netcdf" if name.endswith(".nc") else mimetypes.guess_type(name)[0] or "text/plain"
        facts: dict = {"sha256": sha256, "contentSize": str(file.stat().st_size), "encodingFormat": kind}
        if name == "README.md" or name.removesuffix(".json") in records:
            facts["about"] = {"@id": "./" if name == "README.md" else quote(name.removesuffix(".json"))}
        crate.add_file(file, places[name], properties={"name": places[name], **facts})

    job_records = jobs(record for _, record in sorted(records.items()))
    _describe_root(crate, len(job_records))
    _add_workflow(crate, job_records)

    # One action for the whole workflow, and one for each job with the values of its parameters.
    inputs, outputs = ({name for record in job_records for name in record[part]} for part in ("inputs", "outputs"))
    run = _add_action(crate, "#run", job_records, "Snakefile", inputs - outputs, outputs - inputs, places)
    run["name"], run["description"] = "The workflow", "All jobs, which may have run at different times and places."
    for record in job_records:
        script, identifier = f"scripts/{record['rule']}.py", f"#job/{record_digest(record)}"
        action = _add_action(crate, identifier, [record], script, record["inputs"], record["outputs"], places)
        action["name"] = f"{record['rule']} {min(record['outputs'])}"
        action["description"] = f"One job of the rule {record['rule']}: {' '.join(record['command'])}"
        for name, value in (record["parameters"] | {"seeds": record["seeds"]}).items():
            text = value if isinstance(value, str | int | float) else json.dumps(value)
            identifier = f"#{name}/{json_digest(value)[:16]}"
            action.append_to("object", _add(crate, identifier, "PropertyValue", name=name, value=text))
    crate.root_dataset["datePublished"] = run["endTime"]

    for entity in crate.get_entities():  # RO-Crate has a single value in place of a list of one
        facts = entity.properties()
        facts.update({key: value[0] for key, value in facts.items() if isinstance(value, list) and len(value) == 1})
    return crate


def _add(crate, identifier, kind, **properties):
    """The contextual entity with this identifier, added, of this type and with these properties, if there is none."""
    return crate.get(identifier) or crate.add(ContextEntity(crate, identifier, {"@type": kind, **properties}))


def _describe_root(crate, count):
    """Describe the crate, which holds `count` jobs, by CITATION.cff."""
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    authors = []
    for number, author in enumerate(cited["authors"]):
        kind = "Organization" if "name" in author else "Person"
        name = author.get("name") or f"{author['given-names']} {author['family-names']}"
        url = {"@id": author.get("website", "CITATION.cff")}
        authors.append(_add(crate, f"#author-{number}", kind, name=name, url=url))
    licence = f"https://spdx.org/licenses/{cited['license']}"
    root = crate.root_dataset
    root["name"], root["keywords"] = cited["title"], ", ".join(cited["keywords"])
    root["description"] = f"Results of {count} jobs, with their inputs, code, records and the workflow of the jobs."
    root["author"], root["publisher"] = authors, authors[0]
    root["license"] = _add(crate, licence, "CreativeWork", name=cited["license"], url=licence)
    root["conformsTo"] = [
        _add(crate, url, "CreativeWork", name=name, version=PurePath(url).name) for url, name in PROFILES.items()
    ]


def _add_workflow(crate, job_records):
    """Add the workflow with a step for each rule: a script, and the software that its jobs loaded."""
    # `add_workflow` puts a new entity in place of the file Snakefile, whose properties it must have as well.
    facts = crate.get("Snakefile").properties() | {
        "@type": [*ComputationalWorkflow.TYPES, "HowTo"],
        "name": crate.root_dataset["name"],
        "url": {"@id": "Snakefile"},
        "version": _version(job_records),
        "conformsTo": {"@id": "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"},
    }
    workflow = crate.add_workflow(ROOT / "Snakefile", "Snakefile", main=True, lang="snakemake", properties=facts)
    for rule in sorted({record["rule"] for record in job_records}):
        of_rule = [record for record in job_records if record["rule"] == rule]
        tool = crate.get(f"scripts/{rule}.py")
        tool.properties()["@type"] = ["File", "SoftwareSourceCode"]
        tool["url"], tool["version"] = {"@id": tool.id}, _version(of_rule)
        for name, version in sorted({pair for record in of_rule for pair in record["environment"]["versions"].items()}):
            url = f"https://pypi.org/project/{name}/{quote(version)}/"
            package = _add(crate, url, "SoftwareApplication", name=name, version=version, url=url)
            tool.append_to("softwareRequirements", package)
        workflow.append_to("hasPart", tool)
        workflow.append_to("step", _add(crate, f"#step/{rule}", "HowToStep", name=rule, workExample=tool))


def _version(job_records):
    """The commits of the code that ran, or its digests where there was no repository."""
    return ", ".join(commits(job_records) or sorted({record["code"]["digest"] for record in job_records}))


def _add_action(crate, identifier, job_records, instrument, inputs, outputs, places):
    """Add and return a CreateAction by the authors, from the start of the first job to the end of the last.

    `instrument` is the identifier of a script, `inputs` and `outputs` are names of files, and `places` {name of a file:
    path in the crate}; files outside it, as other formats of a figure, are left out.
    """
    starts, ends = [], []
    for record in job_records:
        starts.append(datetime.fromisoformat(record["volatile"]["start"]))
        ends.append(starts[-1] + timedelta(seconds=record["volatile"]["duration"]))
    facts = {"startTime": min(starts).isoformat(timespec="seconds"), "endTime": max(ends).isoformat(timespec="seconds")}
    facts["actionStatus"] = "http://schema.org/CompletedActionStatus"
    objects, results = ([{"@id": quote(places[name])} for name in sorted(names) if name in places]
                        for names in (inputs, outputs))  # fmt: skip
    action = crate.add_action(crate.get(instrument), identifier, object=objects, result=results, properties=facts)
    action["agent"] = crate.root_dataset["author"]
    crate.root_dataset.append_to("mentions", action)
    return action
