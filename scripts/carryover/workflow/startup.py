"""What happens when the Snakefile is read: the configuration is checked, and results compared with their records."""

import json
import os
import sys
from base64 import urlsafe_b64encode
from collections import Counter
from itertools import pairwise
from pathlib import Path

from carryover import archive
from carryover.config import files, papers
from carryover.errors import UserError, sentence
from carryover.provenance import writing
from carryover.provenance.code_digest import closure_files
from carryover.workflow.command_line import ALSO
from carryover.workflow.sweep import Sweep

METADATA = Path(".snakemake/metadata")


def own(root, file):
    """A file of the working directory, or else that of the workflow in the folder `root`."""
    return file if Path(file).is_file() else str(Path(root, file))


def sweep(config, root, first, read=()):
    """The checked configuration's `Sweep`; a user's mistake ends the run with one sentence.

    `read` are the files that Snakemake read it from, which took what stands twice without a word.

    Only the `first` Snakemake of a run compares results with their records: on a cluster every job starts another one.
    """
    try:
        for file in read if first else ():
            if not Path(file).is_file():
                hint = "" if Path(file).suffix in (".yaml", ".yml", ".json") else f"; before a target put --: -- {file}"
                raise UserError(f"--configfile {file}: there is no such file{hint}.")
            files.read(file, os.path.relpath(file))
        made = valid_sweep(config, root)
        # The rules' commands begin with it: no command or parameter of a job may hang on where the scripts lie.
        os.environ["CARRYOVER_SCRIPTS"] = made.shipped("scripts")
        if first:
            _check_writable(Path(made.results))
            made.check()
            for line in (*trained_anew(made), *differences(made)):
                print(f"carryover: {line}", file=sys.stderr)
        return made
    except UserError as error:
        sys.exit(f"carryover: {sentence(error)}")


def valid_sweep(config, root, reading=False):
    """The `Sweep` of a configuration, with its papers; raises UserError where it is not allowed.

    `reading`: no job will write, so that results may lie in a folder of any name, as where they were moved.
    """
    folder = Path("config/papers") if Path("config/papers").is_dir() else Path(root) / "config/papers"
    results = (config.get("pathvars") or {}).get("results", "results") if reading else None
    asked = {key: value for key, value in config.items() if not (reading and key == "pathvars")}
    made = Sweep(papers.resolved(asked, folder), root)
    made.results = results or made.typed.pathvars.results
    return made


def effective(sweep):
    """A function of wildcards that files the configuration with the logs and gives the file's path, for `audit`.

    With all overlays and overrides in it, it may be longer than a command line can be.
    """

    def path(wildcards):
        file = Path(sweep.results, "logs/audit.config.json")
        with writing.atomic(file) as unfinished:
            unfinished.write_text(json.dumps(sweep.config))
        return file.as_posix()

    return path


def _check_writable(results):
    """Refuse a results folder in which nothing can be written."""
    there = next(folder for folder in (results, *results.absolute().parents) if folder.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise UserError(f"cannot write into the results folder {results}: {there} is no folder, or belongs to others.")


def trained_anew(made):
    """A sentence on each experiment that the archive, if the configuration names one, lacks as it is asked."""
    mismatches = {}
    for experiment, measure in made.datasets() if made.archive else ():
        if found := archive.mismatch(made, experiment, measure):
            mismatches.setdefault(experiment, found)
    yield from (f"{experiment} is trained: {found}" for experiment, found in mismatches.items())


def differences(made):
    """Sentences on results whose recorded keys are not today's: what a run makes anew and why, and what it leaves.

    Snakemake reruns what its metadata says was asked otherwise. Of results that were copied without that metadata it
    knows nothing, and keeps them.
    """
    anew, kept = Counter(), Counter()
    for output, (rule, wildcards) in made.job_of.items():
        record = _record(output)
        if record is None or recorded_key(record) == made.key(rule)(wildcards):
            continue
        found = changes(made, rule, wildcards, record)
        counted = anew if _has_metadata(output) else kept
        counted.update((rule, cause) for cause in found[:1])  # without any, it is made of what has changed
    yield from (f"{rule}, {count} job(s): {cause}" for (rule, cause), count in anew.items())
    for (rule, cause), count in kept.items():
        yield f"{count} {rule} result(s) are not what would be made now: {cause}."
    if kept:
        rules = " ".join(sorted({rule for rule, _ in kept}))
        yield f"Snakemake has no metadata of them and keeps them; to make them anew: snakemake -R {rules}"


def _record(output):
    """The record of a result; None where there is none that can be read, which an audit says."""
    try:
        record = json.loads(Path(f"{output}.json").read_bytes())
        return record if record["command"] and record["code"]["files"] else None
    except (OSError, ValueError, TypeError, LookupError, RecursionError):
        return None


def _has_metadata(output):
    """Whether Snakemake keeps metadata of a file: filed under the path in base64, cut where names get too long."""
    name = urlsafe_b64encode(output.encode()).decode()
    pieces = [name[i : i + 254] for i in range(0, len(name), 254)]
    return METADATA.joinpath(*(f"@{piece}" for piece in pieces[:-1]), pieces[-1]).exists()


def recorded_key(record):
    """The key that a job was told; empty where it was run by hand."""
    named = by_name(record["command"][1:]).get("key", [])
    return named[0] if named else ""


def changes(made, rule, wildcards, record):
    """What of a job is not as its record has it, by name, with the old and the new value: what is asked of it first,
    then its code."""
    added = [path for path in made.made_of(rule)(wildcards) if path not in record["inputs"]]
    return [
        *changed_parameters(made, rule, wildcards, record),
        *(f"it is made of {path} now" for path in added[:1]),
        *changed_code(made, rule, wildcards, record),
    ]


# Flags that the rules add, and that follow from the path of the output.
GIVEN_BY_RULES = ("wildcards", "output", "key", "configfile", "pretrained", "finetuned", "baseline", "style", "data")


def changed_parameters(made, rule, wildcards, record):
    """Sentences on the parameters and flags of a job that are not as its record has them."""
    then, now = _points(record["command"][1:]), _points(made.flags(rule)(wildcards))
    if len(then) != len(now):
        yield f"{len(then)} points of the sweep were trained together, now {len(now)}"
        return
    options = made.options(rule)(wildcards)
    defaults = {name: field.default for p in (options if isinstance(options, list) else [options])
                for name, field in type(p).model_fields.items()}  # fmt: skip
    found = []
    for old, new in zip(map(by_name, then), map(by_name, now), strict=True):
        for name in sorted((old.keys() | new.keys()) - {*GIVEN_BY_RULES, ""}):
            was, is_now = (one.get(name, _words(defaults.get(name))) for one in (old, new))
            if was != is_now:
                found.append(f"{name} {' '.join(was) or 'not given'} → {' '.join(is_now) or 'not given'}")
        if rule not in ("collect", "claims_table", "unarchive", "crate", "report") and old[""] != new[""]:
            found.append(f"{' '.join(old[''])} → {' '.join(new[''])}")
    yield from dict.fromkeys(found)


def changed_code(made, rule, wildcards, record):
    """Sentences on the source files of a job that are not as its record has them."""
    then, now = record["code"]["files"], closure_files(made.scripts, *made.modules(rule, wildcards))
    files = sorted(then.keys() | now.keys())
    yield from (f"scripts/{file} has changed" for file in files if then.get(file) != now.get(file))


def _words(value):
    return [] if value is None else [str(one) for one in (value if isinstance(value, tuple) else (value,))]


def _points(words):
    """A command line, cut where a further point of the sweep begins."""
    cuts = [place for place, word in enumerate(words) if word == ALSO]
    return [[word for word in words[begin:end] if word != ALSO] for begin, end in pairwise([0, *cuts, len(words)])]


def by_name(words):
    """{'learning_rate': ['0.1']} from --learning-rate 0.1, or --learning-rate=0.1; what comes before is named ''."""
    values, name = {"": []}, ""
    for word in words:
        if word.startswith("--"):
            name, given, value = word[2:].partition("=")
            name = name.replace("-", "_")
            values[name] = [value] if given else []
        else:
            values[name].append(word)
    return values
