"""What happens when the Snakefile is read: the configuration is checked, and results compared with their records."""

import json
import sys
from base64 import urlsafe_b64encode
from collections import Counter
from itertools import chain, pairwise
from pathlib import Path

from carryover import archive
from carryover.config import configuration, files, validation
from carryover.config.artifacts import MADE_OF_DATA
from carryover.config.canonical import canonical_words, default_words
from carryover.errors import UserError, sentence
from carryover.provenance import meaning, store, writing
from carryover.provenance.code_digest import closure_files
from carryover.provenance.job_record import record_path, shown, whole
from carryover.workflow.sweep import ALSO, Sweep
from carryover.workflow.upstream import Upstream

METADATA = Path(".snakemake/metadata")


def sweep(config, root, first, read=()):
    """The checked configuration's `Sweep`; a user's mistake ends the run with one sentence.

    `read` are the files that Snakemake read it from, which took what stands twice without a word.

    Only the `first` Snakemake of a run compares results with their records: on a cluster every job starts another one.
    """
    try:
        for file in read if first else ():
            files.read(file, shown(file))
        made = valid_sweep(config, root)
        if not first:
            return made
        _check_writable(Path(made.results), [*made.config.get("experiments", {}), *configuration.RESERVED])
        made.check()
        for line in (*trained_anew(made), *differences(made)):
            print(f"carryover: {line}", file=sys.stderr)
        return made
    except UserError as error:
        sys.exit(f"carryover: {sentence(error)}")


def valid_sweep(config, root, reading=False):
    """The `Sweep` of a configuration, with its papers, that keeps to the schema; raises UserError where it does not.

    `reading`: no job will write, so that results may lie in a folder of any name, as where they were moved.
    """
    schema = files.read(root / "config/schema.yaml", "config/schema.yaml")
    places = {"pathvars": config["pathvars"]} if reading and "pathvars" in config else {}
    asked = {key: value for key, value in config.items() if key not in places}
    config = validation.resolved(asked, schema, root / "config/papers") | places
    return Sweep(config, schema, root / "scripts", config.get("pathvars", {}).get("results", "results"))


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


def paper_of(sweep, rule):
    """A function of wildcards: the name of a figure's or table's paper, its category in Snakemake's own report."""

    def name(wildcards):
        _, entry = MADE_OF_DATA[rule].entry(sweep.config, wildcards)
        return sweep.config.get("papers", {}).get(entry.get("paper"), {"name": "Carryover"})["name"]

    return name


def _check_writable(results, names):
    """Make the results folder, and try to write there and into the folders of these names that it has."""
    for folder in (results, *(results / name for name in names if (results / name).exists())):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            probe = folder / ".writable"
            probe.touch()
            probe.unlink(missing_ok=True)  # another Snakemake may look at the same moment
        except OSError as error:
            raise UserError(f"cannot write into the results folder {folder} ({error.strerror}).") from None


def trained_anew(made):
    """A sentence on each experiment that the archive, if the configuration names one, lacks as it is asked."""
    mismatches = {}
    for experiment, measure in made.datasets() if made.config.get("archive") else ():
        if found := archive.mismatch(made, experiment, measure):
            mismatches.setdefault(experiment, found)
    yield from (f"{experiment} is trained: {found}" for experiment, found in mismatches.items())


def differences(made):
    """Sentences on results that Snakemake has no metadata of and that are not what would be made now, or that were made
    of what a job was to make anew and has not.

    Snakemake compares nothing where its metadata is missing, as after copying results alone; the records still know.
    """
    changes, failed = Counter(), {}
    for rule, wildcards, output in made.jobs():
        if not _has_metadata(output) and (record := _record(output)) is not None:
            for change in _changes(made, rule, wildcards, record):
                changes[rule, change] += 1
            # Of what Snakemake itself has begun it has metadata; it deletes what was there.
            if gone := [name for name in record["inputs"] if _has_metadata(name) and not Path(name).exists()]:
                failed.setdefault(rule, []).append(gone[0])
    for (rule, change), count in changes.items():
        yield f"{count} {rule} result(s) differ from what would be made now: {change}."
    for rule, gone in failed.items():
        what = "made of what was to be made anew and is missing"
        yield f"{len(gone)} {rule} result(s) were {what}, the first {gone[0]}."
    if changes or failed:
        yield "Snakemake has no metadata of them and keeps them; to make them anew, delete them or name them with -R."


def _record(output):
    """The record of a result; None where there is none that can be read whole, which an audit says."""
    try:
        return whole(record_path(output))
    except store.DataError:
        return None


def _has_metadata(output):
    """Whether Snakemake keeps metadata of a file: filed under the path in base64, cut where names get too long."""
    name = urlsafe_b64encode(output.encode()).decode()
    pieces = [name[i : i + 254] for i in range(0, len(name), 254)]
    return METADATA.joinpath(*(f"@{piece}" for piece in pieces[:-1]), pieces[-1]).exists()


def _changes(made, rule, wildcards, record):
    yield from changed_parameters(made, rule, wildcards, record)
    if other := other_definition(record):
        yield other
    else:
        files = closure_files(made.scripts, *made.modules(rule, wildcards))
        yield from (f"scripts/{file} has changed" for file in changed_files(files, record))


# Flags that the rules add, and that follow from the path of the output.
GIVEN_BY_RULES = ("wildcards", "output", "pretrained", "finetuned", "baseline", "style")
# Rules whose command names nothing but files.
MADE_OF = {"collect": "shards", "claims_table": "groups", "crate": "results"}


def changed_parameters(made, rule, wildcards, record, given=GIVEN_BY_RULES):
    """What of a job's flags and shards is not as its record has it, by name, with the old and the new value.

    `given` names the flags that the rule adds: that they are not among `words` says nothing.
    """
    then, now = _points(record["command"][1:]), _points(words(made, rule, wildcards))
    if len(then) != len(now):
        yield f"{len(then)} points of the sweep were trained together, now {len(now)}"
        return
    kinds = made.kinds(rule, wildcards)
    found = (_changed_words(rule, kinds, one, other, given) for one, other in zip(then, now, strict=True))
    yield from dict.fromkeys(chain.from_iterable(found))


def _points(words):
    """A command line, cut where a further point of the sweep begins."""
    cuts = [place for place, word in enumerate(words) if word == ALSO]
    return [words[begin:end] for begin, end in pairwise([0, *cuts, len(words)])]


def _changed_words(rule, kinds, then, now, given):
    then, now = (canonical_words(by_name([word for word in one if word != ALSO]), kinds) for one in (then, now))
    before, after = then.pop(""), now.pop("")
    if rule in MADE_OF:
        if set(before) != set(after):
            yield f"it was made of other {MADE_OF[rule]}: {_difference(before, after)}"
    elif before != after:
        yield f"{' '.join(before)}, now {' '.join(after)}"
    for name in sorted(then.keys() | now.keys()):
        old, new = (" ".join(named.get(name, default_words(kinds.get(name, {})))) for named in (then, now))
        if name in now and not old:
            yield f"{name} was not given, now {new}"
        elif old != new and (name in now or name not in given):
            yield f"{name} {old}, now {new or 'not given'}"


def other_definition(record):
    """That the digests of a record cannot be compared with those of now, in words; empty where they can."""
    if record.get("definition", 1) == meaning.DEFINITION:
        return ""
    return f"its digests follow definition {record.get('definition', 1)} of what code means, now {meaning.DEFINITION}"


def changed_files(files, record):
    """The source files of a job's closure that are not, in `files` ({file: digest}), as its record has them."""
    then = record["code"]["files"]
    return [file for file in sorted(then.keys() | files.keys()) if then.get(file) != files.get(file)]


def words(made, rule, wildcards):
    """The command line of a job, without its script and what the rule adds."""
    if rule in ("collect", "claims_table"):
        return [*Upstream(made).made_of(rule, wildcards), *made.flags(rule)(wildcards)]
    if rule == "unarchive":
        return [made.packed(wildcards), *made.flags(rule)(wildcards)]
    if rule == "report":
        return [made.results]
    if rule == "crate":
        return [*made.collected(), *made.made_of_data(), *made.claims_table()]
    kind = MADE_OF_DATA.get(rule)
    files = kind.file_flags(made.config, made.results, wildcards) if kind else []
    return [*made.flags(rule)(wildcards), *files]


def _difference(before, after):
    """How many files were added and removed, and the first of each."""
    lists = {"added": [file for file in after if file not in before],
             "removed": [file for file in before if file not in after]}  # fmt: skip
    told = [f"{len(files)} {what}, the first {files[0]}" for what, files in lists.items() if files]
    return "; ".join(told)


def by_name(words):
    """{'learning_rate': ['0.1']} from --learning-rate 0.1, or --learning-rate=0.1.

    What comes before the first flag is named ''.
    """
    values, name = {"": []}, ""
    for word in words:
        if word.startswith("--"):
            name, given, value = word[2:].partition("=")
            name = name.replace("-", "_")
            values[name] = [value] if given else []
        else:
            values[name].append(word)
    return values
