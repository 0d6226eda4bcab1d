"""The archive of a configuration: collected datasets that take long to train, packed, each with one small record.

`FOLDER/EXPERIMENT/MEASURE.nc.xz` is a dataset. `MEASURE.json` is its record: the `request`, the commit and
the software that made it, the processor seconds of each job ({rule: {point: [of each block of seeds]}}), hashes, sizes.
A dataset is used where its request equals what the configuration asks now, whatever the code is by then. The Snakefile
imports this module, so it imports nothing large.
"""

import hashlib
import json
import lzma
import tempfile
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from carryover.config import parameters
from carryover.config.artifacts import STAGES
from carryover.config.parameters import about, kind_of, sentence
from carryover.errors import UserError
from carryover.provenance import writing

_WHOLE = ("experiment", "measure", "family", "seeds")


def path(folder, experiment, measure, suffix=".nc.xz"):
    """The packed file of a dataset, or with `.json` its record."""
    return Path(folder, experiment, f"{measure}{suffix}")


class File(BaseModel):
    sha256: str
    bytes: int = Field(gt=0, le=2**31)


class Request(BaseModel):
    model_config = ConfigDict(extra="allow")
    experiment: str
    measure: str
    family: str
    seeds: int
    options: dict
    pretrain: dict
    finetune: dict


class Record(BaseModel):
    model_config = ConfigDict(extra="allow")
    request: Request
    commit: str
    packed: File
    unpacked: File


def record(folder, experiment, measure):
    """The record of an archived dataset; UserError where it cannot be read, or is no such record."""
    file = path(folder, experiment, measure, ".json")
    try:
        return Record.model_validate_json(file.read_bytes()).model_dump()
    except OSError as error:
        raise UserError(f"{file} cannot be read: {error.strerror}.") from None
    except ValidationError as error:
        why = sentence(error, Record).removesuffix(".")
        raise UserError(f"{file} is no record of an archived dataset ({why}): restore it.") from None


def packed(folder, experiment, measure):
    """The bytes of a packed file; UserError where there is none, or not the one that its record names."""
    file, known = path(folder, experiment, measure), record(folder, experiment, measure)["packed"]
    if not file.is_file():
        raise UserError(f"{file} is missing: restore it.")
    if file.stat().st_size != known["bytes"] or _sha256(content := file.read_bytes()) != known["sha256"]:
        raise UserError(f"{file} is truncated or exchanged: its record names another file, so restore both.")
    return content


def unpacked(folder, experiment, measure):
    """The bytes of an archived dataset; UserError where they are not those of its record, and never more than these."""
    place, known = (folder, experiment, measure), record(folder, experiment, measure)["unpacked"]
    try:
        content = lzma.LZMADecompressor(memlimit=2**28).decompress(packed(*place), known["bytes"] + 1)
    except lzma.LZMAError:
        content = b""
    if (len(content), _sha256(content)) != (known["bytes"], known["sha256"]):
        raise UserError(f"{path(*place)} unpacks to other bytes than its record names: restore both.")
    return content


def load(folder, experiment, measure):
    """The archived dataset, an `xarray.Dataset`; UserError as `unpacked`."""
    from carryover.provenance import store

    with tempfile.NamedTemporaryFile(suffix=".nc") as file:
        Path(file.name).write_bytes(unpacked(folder, experiment, measure))
        return store.load(file.name)


def save(folder, known, content):
    """Pack the bytes of a dataset; `known` is its record without the facts about files."""
    place = (folder, known["request"]["experiment"], known["request"]["measure"])
    numbers = {"lc": 0, "lp": 3, "pb": 3}  # of eight bytes
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, **numbers}]
    files = {"packed": lzma.compress(content, filters=filters), "unpacked": content}
    facts = {name: {"sha256": _sha256(one), "bytes": len(one)} for name, one in files.items()}
    text = json.dumps({**known, **facts}, indent=1, sort_keys=True)
    for file, new in ((path(*place), files["packed"]), (path(*place, ".json"), f"{text}\n".encode())):
        with writing.atomic(file) as unfinished:
            unfinished.write_bytes(new)


def pack(sweep, audit, experiment, measure):
    """Add a finished dataset to the archive of a `Sweep`; UserError where an `audit` finds that it is not what would be
    made now."""
    file = f"{sweep.results}/{experiment}/{measure}.nc"
    if (finding := audit.findings[file]).verdict != "OK" and not finding.warning:
        raise UserError(f"{file} is {finding.verdict} ({finding.cause}): run Snakemake first.")
    made_of, names = {}, [file]
    while names:
        if (name := names.pop()) in audit.chain.records:
            made_of[name] = audit.chain.records[name]
            names += made_of[name]["inputs"].keys() - made_of.keys()
    seconds = {}
    for one in sorted(made_of.values(), key=lambda record: int(record["wildcards"].get("block", 0))):
        usage = one["volatile"]
        spent = usage["processor_time"] - usage["starting"] + usage.get("resumed", {}).get("seconds", 0)
        points = seconds.setdefault(one["rule"], {})
        points.setdefault(one["wildcards"].get("point", "all"), []).append(round(spent, 2))
    whole = made_of[file]
    known = {
        "request": request(sweep, experiment, measure),
        **(whole["git"] or {"commit": "unknown", "dirty": True}),
        "python": whole["environment"]["python"],
        "versions": {n: v for one in made_of.values() for n, v in one["environment"]["versions"].items()},
        "device": " ".join(sorted({one["environment"]["device"] for one in made_of.values()})),
        "seconds": seconds,
    }
    save(sweep.config["archive"], known, Path(file).read_bytes())


def request(sweep, experiment, measure):
    """What the configuration of a `Sweep` asks of a dataset: the options of the measure and, for each grid of each
    stage, all parameters that its jobs read; `split`, `block`, `resources` and the order of lists do not count."""
    spec = sweep.typed.experiments[experiment]
    requested = {"experiment": experiment, "measure": measure, "family": spec.family, "seeds": spec.seeds}
    requested["options"] = _complete(parameters.model_of("measures", measure), spec.measures[measure] or {})
    for stage in STAGES:
        model, section = parameters.model_of(f"families.{spec.family}", stage), getattr(spec, stage)
        grids = section.get("grids", {"": {}}) if section is not None else {}
        requested[stage] = {n: _complete(model, {**(spec.task or {}), **section, **grid}) for n, grid in grids.items()}
    return requested


def mismatch(sweep, experiment, measure):
    """Why an archive lacks a dataset as the configuration of a `Sweep` asks for it, as a sentence; or nothing."""
    place = (sweep.archive, experiment, measure)
    if not path(*place, ".json").exists():
        return f"{experiment}/{measure} is not in {place[0]}."
    found = list(_differences(request(sweep, experiment, measure), record(*place)["request"]))
    more = f" ({len(found) - 1} more)" if found[1:] else ""
    return f"{experiment}/{measure}: {found[0]}{more}." if found else ""


def _differences(now, then):
    """Where two requests differ: of which parameters, and the archived and the requested value."""
    yield from _unlike(*({key: one[key] for key in _WHOLE} for one in (now, then)), parameters.Model)
    yield from _unlike(now["options"], then["options"], parameters.model_of("measures", now["measure"]))
    for stage in STAGES:
        model = parameters.model_of(f"families.{now['family']}", stage)
        for grid, requested in now[stage].items():
            candidates = [list(_unlike(requested, archived, model)) for archived in then[stage].values()]
            where = f"{stage}.grids.{grid}." if grid else f"{stage}."
            yield from (where + one for one in min(candidates, key=len, default=[]))
        if len(now[stage]) != len(then[stage]):
            yield f"{stage} has {len(then[stage])} grids in the archive, and {len(now[stage])} in the configuration"


def _unlike(requested, archived, model):
    """Parameters whose values differ, with both values; one that the archive lacks has its default there."""
    defaults = _values(model, {})
    for name in sorted(requested.keys() | archived.keys()):
        old, new = (one.get(name, defaults.get(name)) for one in (archived, requested))
        if old != new:
            yield f"{name} is {json.dumps(old)} in the archive, and {json.dumps(new)} in the configuration"


def _complete(model, section):
    """{parameter: value} of those that a job of the section reads, with defaults, in their types."""
    values = _values(model, section)

    def is_read(name):
        return all(set(values[axis]) & set(allowed) for axis, allowed in about(model, name, "when").items())

    return {name: value for name, value in values.items() if is_read(name)}


def _values(model, section):
    """{parameter: its value in its type, sorted values of one that takes several}, with defaults."""
    values = {}
    for name, field in model.model_fields.items():
        (kind, several), value = kind_of(model, name), section.get(name, field.default)
        items = [float(v) if kind is float else v for v in (value if isinstance(value, list | tuple) else [value])]
        values[name] = sorted(items) if several or about(model, name, "axis") else items[0]
    return values


def _sha256(content):
    return hashlib.sha256(content).hexdigest()
