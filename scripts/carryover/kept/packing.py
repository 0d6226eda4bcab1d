"""Results that are kept with the project, so that who reads it need not train for a night.

A folder has the collected datasets of whole experiments, `<experiment>/<measure>.nc.xz`, the records of these and of
everything that they were made of, `<experiment>/records.json.xz`, and a list of all. Unpacked, the datasets are the
bytes that they were, and their records stand beside them; of what they were made of there are the records alone.
"""

import hashlib
import json
import lzma
from pathlib import Path

from carryover.errors import UserError
from carryover.kept import listing
from carryover.kept.listing import Kept
from carryover.provenance import job_record, store, writing

RECORDS = "records.json.xz"


def pack(made, folder):
    """Keep the experiments of a `Sweep` of which every collected dataset is there, with all records: {experiment: why}
    of those of which something is not. Of them the folder keeps what it has."""
    kept, left_out = listing.read(folder), {}
    for experiment in made.config.get("experiments", {}):
        try:
            kept = _without(kept, made, experiment) | _packed(made, experiment, Path(folder))
        except store.DataError as error:
            left_out[experiment] = str(error)
    listing.write(folder, kept)
    return left_out


def unpack(made, folder):
    """Put what a folder keeps of a configuration's results in its place, and the list of it; the paths of datasets.

    Files that are there stay. Raises UserError, having written nothing, where one of them is another than what is kept,
    where what is kept is of another results folder, or is damaged.
    """
    kept = listing.read(folder)
    if not kept:
        raise UserError(f"{folder} keeps no results: there is no {listing.LIST}.")
    if strange := [path for path in kept if not path.startswith(f"{made.results}/") or ".." in Path(path).parts]:
        raise UserError(f"{folder} keeps {strange[0]}, which is not in {made.results}: name its configuration.")
    files = {}
    for experiment in sorted({_experiment(made, path) for path in kept}):
        texts = json.loads(_unpacked(Path(folder, experiment, RECORDS)))
        files |= {f"{path}.json": text.encode() for path, text in texts.items() if path in kept}
    for path, one in kept.items():
        if one.packed:
            files[path] = _whole(one, Path(folder, f"{Path(path).relative_to(made.results)}.xz"))
    wanted = {path: content for path, content in files.items() if not _there(path, content)}
    for path, content in wanted.items():
        with writing.atomic(path) as unfinished:
            unfinished.write_bytes(content)
    listing.write(made.results, listing.read(made.results) | kept)
    return sorted(path for path, one in kept.items() if one.packed)


def _packed(made, experiment, folder):
    """{path: Kept} of an experiment, whose datasets and records are written."""
    records, sizes = {}, {}
    datasets = [f"{made.results}/{experiment}/{name}.nc" for name in made.config["experiments"][experiment]["measures"]]
    for path in datasets:
        _gather(made, path, records)
        if store.sha256(path) != _output(records[path], path)["sha256"]:
            raise store.DataError(f"{path} is not what its record says")
    for path in datasets:
        sizes[path] = _write(folder / experiment / f"{Path(path).name}.xz", Path(path).read_bytes())
    texts = {path: text for path, (text, _) in sorted(records.items())}
    _write(folder / experiment / RECORDS, json.dumps(texts, indent=0).encode())
    outputs = {path: _output(one, path) for path, one in records.items()}
    return {path: Kept(path, one["sha256"], one["bytes"], sizes.get(path, 0)) for path, one in outputs.items()}


def _gather(made, path, records):
    """Add {path: (text, record)} of a result, and of all in the results folder that it was made of."""
    if path in records:
        return
    file = job_record.record_path(path)
    record = job_record.whole(file)
    records[path] = file.read_text(), record
    for name, known in record["inputs"].items():
        if name.startswith(f"{made.results}/"):
            _gather(made, name, records)
            if _output(records[name], name)["sha256"] != known["sha256"]:
                raise store.DataError(f"{name} is not the one that {path} was made of")


def _output(found, path):
    """What a record says of the result that it stands beside."""
    known = found[1]["outputs"].get(path)
    if known is None:
        raise store.DataError(f"{path}.json is the record of another result")
    return known


def _without(kept, made, experiment):
    return {path: one for path, one in kept.items() if _experiment(made, path) != experiment}


def _experiment(made, path):
    """The folder of the results folder that a result stands in."""
    return Path(path).relative_to(made.results).parts[0]


def _write(file, content):
    """Pack bytes into a file; its size."""
    with writing.atomic(file) as unfinished:
        unfinished.write_bytes(lzma.compress(content, preset=9 | lzma.PRESET_EXTREME))
    return file.stat().st_size


def _unpacked(file, most=2**30):
    """The bytes that a file packs, which are not more than `most`."""
    with store.regular(file) as packed:
        try:
            reading = lzma.LZMADecompressor()
            content = reading.decompress(packed.read(), most)
        except lzma.LZMAError as error:
            raise UserError(f"{file} is damaged ({error}).") from None
    if not reading.eof:
        raise UserError(f"{file} is damaged, or more than it should be.")
    return content


def _whole(one, file):
    """The bytes of a kept dataset, which must be those that the list has the hash of."""
    content = _unpacked(file, one.bytes + 1)
    if hashlib.sha256(content).hexdigest() != one.sha256:
        raise UserError(f"{file} does not hold what the list says of {one.path}.")
    return content


def _there(path, content):
    """Whether a file is there already; UserError where it is another."""
    try:
        there = store.sha256(path)
    except store.MissingError:
        return False
    if there != hashlib.sha256(content).hexdigest():
        raise UserError(f"{path} is there already, and is not what is kept: move it away to unpack.")
    return True
