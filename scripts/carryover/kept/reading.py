"""What is kept of results, as it is read: of which experiments, their records, and the bytes of their datasets.

A file here may have been changed by anyone: what is read is checked before it is believed.
"""

import hashlib
import json
import lzma
import os
from pathlib import Path

from carryover.errors import UserError
from carryover.provenance import job_record, record_schema, store

PACKED = ".xz"
RECORDS = f"records.json{PACKED}"
SHOWN = "[!.]*"
"""Folders of experiments; with a dot begin those that a killed process left half written."""
_MOST = 2**32
"""Bytes that a file of records may unpack to."""


class OfAnother(UserError):
    """What is kept is whole, and of another configuration."""


def folder(made):
    """The folder in which the results of a `Sweep` are kept; UserError where its configuration names none."""
    if "kept" not in made.config:
        raise UserError("the configuration keeps no results: name the folder of what is kept, kept: FOLDER.")
    return Path(made.config["kept"])


def refuse_results_folder(made):
    """UserError where results are to be kept in the results folder itself, in a folder of it, or around it: there a
    packed experiment would take the place of results."""
    kept, results = (Path(os.path.realpath(name)) for name in (folder(made), made.results))
    if kept.is_relative_to(results) or results.is_relative_to(kept):
        where = f"outside of the results folder ({made.results}), and not around it"
        raise UserError(f"configuration: kept: {folder(made)} is not allowed; it must be a folder {where}.")


def experiments(made):
    """The experiments of which something is kept, by the names of their folders."""
    return sorted(path.parent.name for path in folder(made).glob(f"{SHOWN}/{RECORDS}"))


def records(made, experiment):
    """{path: record} of all that is kept of an experiment; UserError for a file that is damaged, or whose records are
    of something else, or not of each other, and OfAnother where they are of another results folder."""
    file = folder(made) / experiment / RECORDS
    text = _unpacked(file, _MOST)
    try:
        found = json.loads(text)
        if (other := _results(found, experiment)) not in (None, made.results):
            where = f"whose results are in {other}, not in {made.results}"
            raise OfAnother(f"{file} is of another configuration, {where}: name a folder of their own, kept.")
        for path, record in found.items():
            _check(path, record, found, f"{made.results}/{experiment}/")
    except OfAnother:
        raise
    except (ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:
        raise UserError(f"{file} is damaged: {str(error) or type(error).__name__}.") from None
    return found


def datasets(made, experiment, found):
    """{file: path} of the collected datasets that records `found` of an experiment say are kept."""
    paths = [path for path in found if Path(path).parent == Path(made.results, experiment)]
    return {packed(made, experiment, path): path for path in paths}


def packed(made, experiment, path):
    """The file in which a dataset of an experiment is kept."""
    return folder(made) / experiment / f"{Path(path).name}{PACKED}"


def content(file, known):
    """The bytes of a kept dataset, which must be those that its record is of."""
    content = _unpacked(file, known["bytes"] + 1)
    if hashlib.sha256(content).hexdigest() != known["sha256"]:
        raise UserError(f"{file} does not hold what its record is of.")
    return content


def _results(found, experiment):
    """The results folder that all records of an experiment are of; None where there is no such folder."""
    dataset = Path(min(found, key=lambda path: path.count("/"), default=""))  # what it was made of lies deeper
    place = dataset.parent
    whole = place.name == experiment and all(path.startswith(f"{place.as_posix()}/") for path in found)
    return place.parent.as_posix() if whole else None


def _check(path, record, found, inside):
    """Raise ValueError where a record is not whole, of a result outside of the folder `inside`, or of other inputs than
    are recorded beside it."""
    if wrong := record_schema.wrong(record):
        raise ValueError(f"the record of {path} lacks {', '.join(wrong)}, or has it odd")
    if not path.startswith(inside) or ".." in Path(path).parts or path not in record["outputs"]:
        raise ValueError(f"it has a record of {path}, which is no result in {inside}")
    job_record.as_text(record).encode()
    for name, known in record["inputs"].items():
        if name.startswith(inside) and found[name]["outputs"][name]["sha256"] != known["sha256"]:
            raise ValueError(f"{name} is not the one that {path} was made of")


def _unpacked(file, most):
    """The bytes that a file packs, which are not more than `most`."""
    with store.regular(file) as packed:
        try:
            reading = lzma.LZMADecompressor()
            content = reading.decompress(packed.read(), most)
        except lzma.LZMAError as error:
            raise UserError(f"{file} is damaged ({error}).") from None
    if not reading.eof or reading.unused_data:
        raise UserError(f"{file} is damaged, or more than it should be.")
    return content
