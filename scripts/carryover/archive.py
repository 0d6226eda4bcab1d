"""The archive of a configuration: collected datasets that take long to train, packed, each with one small record.

`FOLDER/EXPERIMENT/MEASURE.nc.xz` is a dataset. `MEASURE.json` is its record: the `request`, the commit and
the software that made it, the processor seconds of each job ({rule: {point: [of each block of seeds]}}), hashes, sizes.
A dataset is used where its request equals what the configuration asks now, whatever the code is by then. `packed` is
the path of a packed file, `sweep` a `workflow.sweep.Sweep` and `audit` an `audit.findings.Audit`. The Snakefile imports
this module, so it imports nothing large.
"""

import hashlib
import json
import lzma
import tempfile
from itertools import product
from pathlib import Path

from carryover.config import parameters, plugins
from carryover.config.artifacts import STAGES
from carryover.config.parameters import applies, parameter_schema
from carryover.errors import UserError, sentence
from carryover.provenance import store
from carryover.provenance.job_record import Job
from carryover.provenance.records import upstream

LARGEST = 2**31
"""Bytes of a dataset: a small file may unpack to more than fits in memory."""


def path(folder, experiment, measure):
    """The packed file of a dataset."""
    return Path(folder, experiment, f"{measure}.nc.xz")


def record_path(packed):
    """Where the record of a packed file stands."""
    return packed.with_suffix("").with_suffix(".json")


def record(packed):
    """The record of a packed file; UserError where it cannot be read, or is no such record."""
    file = record_path(packed)
    try:
        known = json.loads(file.read_bytes())
        # A KeyError here means that the record is incomplete.
        _ = known["request"], known["commit"], known["packed"]["sha256"], known["unpacked"]["sha256"]
        if not isinstance(size := known["unpacked"]["bytes"], int) or not 0 < size <= LARGEST:
            raise ValueError(f"unpacked.bytes must be a whole number from 1 to {LARGEST}")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{file} is no record of an archived dataset ({error}): restore it.") from None
    return known


def unpack(packed):
    """The bytes of the dataset in a packed file; UserError if its hash or theirs is not that in its record."""
    known = record(packed)
    if store.sha256(packed) != known["packed"]["sha256"]:
        raise UserError(f"{packed} is truncated or exchanged: its record names another file, so restore both.")
    try:  # at most one byte more than recorded: enough to change the hash, and a file that holds more fills no memory
        content = lzma.LZMADecompressor(memlimit=2**28).decompress(packed.read_bytes(), known["unpacked"]["bytes"] + 1)
    except lzma.LZMAError:
        content = b""
    if hashlib.sha256(content).hexdigest() != known["unpacked"]["sha256"]:
        raise UserError(f"{packed} unpacks to other bytes than its record names: restore both.")
    return content


def load(folder, experiment, measure):
    """The archived dataset, an `xarray.Dataset`; UserError as `unpack`."""
    with tempfile.NamedTemporaryFile(suffix=".nc") as file:
        Path(file.name).write_bytes(unpack(path(folder, experiment, measure)))
        return store.load(file.name)


def save(folder, known, content):
    """Pack `content`, the bytes of a dataset, with its record; `known` is the record without hashes and sizes."""
    packed = path(folder, known["request"]["experiment"], known["request"]["measure"])
    # Options of LZMA: predict a byte by its position modulo 8 (lp, pb) and not by the byte before (lc).
    numbers = {"lc": 0, "lp": 3, "pb": 3}
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, **numbers}]
    files = {"packed": lzma.compress(content, filters=filters), "unpacked": content}
    facts = {name: {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)} for name, data in files.items()}
    text = json.dumps({**known, **facts}, indent=1, sort_keys=True) + "\n"
    with store.atomic(packed, record_path(packed)) as (packed_file, record_file):
        packed_file.write_bytes(files["packed"])
        record_file.write_text(text, encoding="utf-8")


def pack(sweep, audit, experiment, measure):
    """Add a finished dataset to the archive of a `Sweep`; UserError if the `Audit` finds that it is not up to date."""
    file = f"{sweep.results}/{experiment}/{measure}.nc"
    if (finding := audit.findings[file]).fails:
        raise UserError(f"{file} is {finding.verdict} ({finding.cause}): run Snakemake first.")
    records = upstream(file, audit.records)
    seconds: dict = {}  # {rule: {point: of each block}}, without what a process took before its job began
    for job in sorted(records.values(), key=lambda record: int(record["wildcards"].get("block", 0))):
        usage, points = job["volatile"], seconds.setdefault(job["rule"], {})
        duration = usage["processor_time"] - usage["starting"]
        points.setdefault(job["wildcards"].get("point", "all"), []).append(round(duration, 2))
    known = {
        "request": request(sweep, experiment, measure),
        "commit": records[file]["git"]["commit"] or "unknown",
        "dirty": records[file]["git"]["dirty"] is not False,
        "python": records[file]["environment"]["python"],
        "versions": {n: v for job in records.values() for n, v in job["environment"]["versions"].items()},
        "device": " ".join(sorted({job["environment"]["device"] for job in records.values()})),
        "seconds": seconds,
    }
    save(sweep.config["archive"], known, Path(file).read_bytes())


def lacking(sweep, audit=None):
    """Yield sentences on datasets of a `Sweep` that the archive lacks, or has damaged; with an `Audit` those that it
    lacks are added instead, and sentences say which cannot be."""
    if not sweep.archive:
        raise UserError("the configuration names no archive: add archive: FOLDER.")
    for dataset in sweep.datasets():
        try:
            if audit and sweep.mismatch(*dataset):
                pack(sweep, audit, *dataset)
            elif different := mismatch(sweep, *dataset):
                yield different
            else:
                unpack(path(sweep.archive, *dataset))
        except UserError as error:
            yield sentence(error)


def unarchive(arguments):
    """Unpack the dataset in the file `packed` that has the hash `sha256`, by the command line of `unarchive.py`.

    The workflow reads the hash from the record when it plans the job; a record that was replaced since is refused.
    """
    packed, sha256 = Path(arguments.packed), arguments.sha256
    known = record(packed)
    if known["unpacked"]["sha256"] != sha256:
        raise UserError(f"--sha256 {sha256}: the record of {packed} names another dataset.")
    with Job(
        rule="unarchive", modules=["unarchive"], inputs=[packed], outputs=arguments.output, portable="bits",
        parameters={"sha256": sha256, "commit": known["commit"]}, wildcards=dict(arguments.wildcards),
    ) as job:  # fmt: skip
        job.path(arguments.output[0]).write_bytes(unpack(packed))


def request(sweep, experiment, measure):
    """What the configuration of a `Sweep` requests as a dataset: a dictionary of experiment, measure, family, seeds,
    options of the measure, and for each stage {point: all its parameters}.

    It lacks `split`, `block` and `resources`, which do not affect values; `mismatch` ignores the order of lists.
    """
    spec = sweep.typed.experiments[experiment]
    requested = {"experiment": experiment, "measure": measure, "family": spec.family, "seeds": spec.seeds}
    requested["options"] = spec.measures[measure] or {}
    for stage in STAGES:
        requested[stage] = {name: dict(point.parameters) for name, point in sweep.points(experiment, stage).items()}
    return requested


def mismatch(sweep, experiment, measure):
    """A sentence on why the archive does not have a dataset as the configuration requests it; empty if it has it."""
    if not sweep.archive:
        return "the configuration names no archive."
    packed = path(sweep.archive, experiment, measure)
    if not record_path(packed).exists():
        return f"{experiment}/{measure} is not in {sweep.archive}."
    now, then = _normalize(request(sweep, experiment, measure)), record(packed)["request"]
    try:
        then = _normalize(then)
    except (KeyError, UserError) as error:  # the archived request has parameters that do not exist any more
        return f"{experiment}/{measure}: {record_path(packed)} has another request: {error}"
    changes = [f"{': '.join(names)} {old} → {new}" for names, old, new in parameters.differences(then, now)]
    more = f" ({len(changes) - 1} more)" if changes[1:] else ""
    return f"{experiment}/{measure}: not as archived: {changes[0]}{more}." if changes else ""


def _normalize(requested):
    """The canonical form of a request, as `request` or an archive's record has it: equivalent requests have the same.
    Each stage is {values of the axes: parameters}, with defaults, without parameters that no job reads, and with each
    value as a sorted list.

    An archived request may have several values of an axis in one grid. A new request may have several points with the
    same axes, each with some of the values of another parameter: `split` makes them, and here they are put together.
    """
    complete = {name: requested[name] for name in ("experiment", "measure", "family", "seeds")}
    options = plugins.model_of("measures", requested["measure"])(**requested["options"])
    complete["options"] = {name: _as_sorted_list(value) for name, value in options}
    for stage in STAGES:
        model = plugins.model_of(f"families.{requested['family']}", stage)
        points: dict = {}
        fields = parameter_schema(model)
        axes = [name for name, about in fields.items() if about["axis"]]
        for grid in requested[stage].values():
            for values in product(*(_as_sorted_list(grid.get(axis, fields[axis]["default"])) for axis in axes)):
                point = dict(zip(axes, values, strict=True))
                read = {name: _as_sorted_list(value) for name, value in model(**(grid | point))
                        if applies(fields[name]["when"], point)}  # fmt: skip
                same = points.setdefault(", ".join(f"{axis} {point[axis]}" for axis in axes if axis in read), {})
                same |= {name: sorted({*same.get(name, ()), *value}) for name, value in read.items()}
        complete[stage] = points
    return complete


def _as_sorted_list(value):
    return sorted(value) if isinstance(value, list | tuple) else [value]
