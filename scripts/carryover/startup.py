"""What happens when the Snakefile is read: the configuration is checked, and results are held against their records."""

import json
import sys
from base64 import urlsafe_b64encode
from collections import Counter
from pathlib import Path

import yaml

from carryover import configuration
from carryover.digest import closure_files
from carryover.errors import UserError, sentence
from carryover.sweep import MADE_OF_DATA, Sweep

METADATA = Path(".snakemake/metadata")
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # in C where there is one: ten times as fast


def sweep(config, root):
    """The checked configuration's `Sweep`; a user's mistake ends the run with one sentence."""
    try:
        schema = yaml.load((root / "config/schema.yaml").read_text(), Loader=LOADER)
        configuration.validate(config, schema)
        results = config.get("pathvars", {}).get("results", "results")
        _check_writable(Path(results), [*config.get("experiments", {}), *configuration.RESERVED])
        made = Sweep(config, schema, root / "scripts", results)
        made.check()
        for line in differences(made):
            print(f"carryover: {line}", file=sys.stderr)
        return made
    except UserError as error:
        sys.exit(f"carryover: {sentence(error)}")


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


def differences(made):
    """Sentences on results that Snakemake has no metadata of and that are not what would be made now.

    Snakemake compares nothing where its metadata is missing, as after copying results alone; the records still know.
    """
    found = Counter()
    for rule, wildcards, output in made.jobs():
        record = _record(output)
        if record is not None and not _has_metadata(output):
            for change in _changes(made, rule, wildcards, record):
                found[rule, change] += 1
    for (rule, change), count in found.items():
        yield f"{count} {rule} result(s) differ from what would be made now: {change}."
    if found:
        yield "Snakemake has no metadata of them and keeps them; to make them anew, delete them or name them with -R."


def _record(output):
    try:
        return json.loads(Path(f"{output}.json").read_bytes())
    except (OSError, ValueError):
        return None


def _has_metadata(output):
    """Whether Snakemake keeps metadata of a file: filed under the path in base64, cut where names get too long."""
    name = urlsafe_b64encode(output.encode()).decode()
    pieces = [name[i : i + 254] for i in range(0, len(name), 254)]
    return METADATA.joinpath(*(f"@{piece}" for piece in pieces[:-1]), pieces[-1]).exists()


def _changes(made, rule, wildcards, record):
    then, now = _by_name(record["command"][1:]), _by_name(_words(made, rule, wildcards))
    before, after = then.pop("", ""), now.pop("", "")
    if before != after:
        yield "it was made of other shards" if rule == "collect" else f"{before}, now {after}"
    for name in sorted(then.keys() | now.keys()):
        if name in now and name not in then:
            yield f"{name} was not given, now {now[name]}"
        elif name in now and then[name] != now[name]:
            yield f"{name} {then[name]}, now {now[name]}"
        elif name not in now and name not in GIVEN_BY_RULES:
            yield f"{name} {then[name]}, now not given"
    files, code = record["code"]["files"], closure_files(made.scripts, *made.modules(rule, wildcards))
    for file in sorted(files.keys() | code.keys()):
        if files.get(file) != code.get(file):
            yield f"scripts/{file} has changed"


# Flags that the rules add, and that follow from the path of the output.
GIVEN_BY_RULES = ("wildcards", "output", "pretrained", "finetuned", "style")


def _words(made, rule, wildcards):
    """The command line of a job but for GIVEN_BY_RULES."""
    if rule == "collect":
        return made.shards(made.results + "/{experiment}/measure/{measure}/{point}/{block}.nc")(wildcards)
    data = ["--data", *made.data(rule)(wildcards)] if rule in MADE_OF_DATA else []
    return [*made.flags(rule)(wildcards), *data]


def _by_name(words):
    """{'learning_rate': '0.1'} from --learning-rate 0.1; what comes before the first flag is named ''."""
    values, name = {"": []}, ""
    for word in words:
        if word.startswith("--"):
            values[name := word[2:].replace("-", "_")] = []
        else:
            values[name].append(word)
    return {name: " ".join(items) for name, items in values.items() if name or items}
