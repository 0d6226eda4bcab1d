"""Results that are kept with the project, so that who reads it need not train for a night.

The folder that a configuration names (`kept`) has a folder for each experiment: its collected datasets, packed, and the
records of these and of everything that they were made of, `records.json.xz`. Unpacked, the datasets are the bytes that
they were, with their records beside them; of what they were made of there are the records alone.
"""

import json
import lzma
from pathlib import Path

from carryover.errors import UserError
from carryover.kept import reading, replacing
from carryover.kept.reading import PACKED, RECORDS
from carryover.provenance import job_record, store, writing


def pack(made):
    """Keep the experiments of a `Sweep` of which every collected dataset is there, with all records: {experiment: why}
    of those of which something is not, or whose place has what would be lost. Of these the folder keeps what it has,
    and of those that it keeps already, as they are.

    Raises UserError, having written nothing, where the folder is no place for these results.
    """
    reading.refuse_results_folder(made)
    replacing.refuse_others(made)
    left_out = {}
    for experiment, spec in made.config.get("experiments", {}).items():
        datasets = [f"{made.results}/{experiment}/{measure}.nc" for measure in spec.get("measures", {})]
        if not datasets and experiment not in reading.experiments(made):
            continue
        try:
            found = _gathered(made, datasets)
            replacing.refuse_loss(made, experiment, datasets)
        except UserError as error:
            left_out[experiment] = str(error)
            continue
        if datasets and not _is_kept(made, experiment, found):
            with replacing.in_place_of(reading.folder(made) / experiment) as fresh:
                _pack(fresh / RECORDS, json.dumps(found, indent=0, sort_keys=True).encode())
                for path in datasets:
                    _pack(fresh / reading.packed(made, experiment, path).name, Path(path).read_bytes())
    return left_out


def unpack(made):
    """Put what is kept of the results of a `Sweep` in its place; the paths of datasets.

    What is there stays. Raises UserError, having written nothing, where something there is another than what is kept,
    or what is kept is damaged or not all there.
    """
    reading.refuse_results_folder(made)
    kept = {experiment: reading.records(made, experiment) for experiment in reading.experiments(made)}
    datasets = {}
    for experiment, found in kept.items():
        datasets |= {path: file for file, path in reading.datasets(made, experiment, found).items()}
    _refuse_gaps(made, set(datasets.values()))
    if not datasets:
        raise UserError(f"{reading.folder(made)} keeps no results.")
    files = {}
    for path, record in (pair for found in kept.values() for pair in found.items()):
        known = record["outputs"][path]
        if not _recorded(path, known):
            files[f"{path}.json"] = job_record.as_text(record).encode()
        if path in datasets and not _there(path, known):
            files[path] = reading.content(datasets[path], known)
    for path, content in files.items():
        with writing.atomic(path) as unfinished:
            unfinished.write_bytes(content)
    return sorted(datasets)


def _refuse_gaps(made, promised):
    """Raise UserError where packed datasets are not those files that the records of all experiments promise."""
    folder = reading.folder(made)
    there = set(folder.glob(f"{reading.SHOWN}/*.nc{PACKED}"))
    unread = {file.with_name(RECORDS) for file in there - promised}
    lacking = sorted(str(file.relative_to(folder)) for file in promised - there | unread if not file.exists())
    if lacking:
        more = f" and {len(lacking) - 3} more" if len(lacking) > 3 else ""
        raise UserError(f"{folder} lacks {', '.join(lacking[:3])}{more}: put back what was packed there.")
    if unknown := sorted(there - promised):
        raise UserError(f"{unknown[0]} is of no record in {RECORDS} beside it: move it away to unpack.")


def _is_kept(made, experiment, found):
    """Whether what records `found` are of is kept already, whole."""
    try:
        if reading.records(made, experiment) != found:
            return False
        for file, path in reading.datasets(made, experiment, found).items():
            reading.content(file, found[path]["outputs"][path])
    except UserError:
        return False
    return True


def _gathered(made, datasets):
    """{path: record} of datasets and of all that they were made of; DataError where something is not as recorded."""
    found = {}
    for path in datasets:
        _gather(made, path, found)
        if store.sha256(path) != found[path]["outputs"][path]["sha256"]:
            raise store.DataError(f"{path} is not what its record says")
    return found


def _gather(made, path, found):
    """Add {path: record} of a result, and of all in the results folder that it was made of."""
    if path in found:
        return
    record = job_record.whole(job_record.record_path(path))
    if path not in record["outputs"]:
        raise store.DataError(f"{path}.json is the record of another result")
    found[path] = record
    for name, known in record["inputs"].items():
        if name.startswith(f"{made.results}/"):
            _gather(made, name, found)
            if found[name]["outputs"][name]["sha256"] != known["sha256"]:
                raise store.DataError(f"{name} is not the one that {path} was made of")


def _recorded(path, known):
    """Whether a result has a record already; UserError where that is of another result than is `known`."""
    try:
        there = job_record.whole(job_record.record_path(path))
    except store.MissingError:
        return False
    if there["outputs"].get(path, {}).get("sha256") != known["sha256"]:
        raise UserError(f"{path}.json is there already, of another result than is kept: move it away to unpack.")
    return True


def _there(path, known):
    """Whether a dataset is there already; UserError where it is another."""
    try:
        there = store.sha256(path)
    except store.MissingError:
        return False
    if there != known["sha256"]:
        raise UserError(f"{path} is there already, and is not what is kept: move it away to unpack.")
    return True


def _pack(file, content):
    file.write_bytes(lzma.compress(content, preset=9 | lzma.PRESET_EXTREME))
