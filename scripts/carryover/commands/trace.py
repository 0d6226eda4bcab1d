"""Say where figures came from: by their bytes or by what they carry, and by the records under a folder of results."""

import argparse
import hashlib
import json
import re
from contextlib import suppress
from pathlib import Path

from carryover.config.artifacts import FORMATS
from carryover.errors import UserError
from carryover.provenance import job_record, store
from carryover.provenance.records import all_records, commits


def main(argv):
    parser = argparse.ArgumentParser(prog="carryover trace", description=__doc__, allow_abbrev=False)
    parser.add_argument("figures", nargs="+", type=Path, metavar="FIGURE", help="PNG, PDF, or another result")
    parser.add_argument("--results", default="results", type=Path, metavar="FOLDER", help="default: results")
    arguments = parser.parse_args(argv)
    # Without the default folder, only what figures carry themselves is printed; a folder given by --results must exist.
    given = arguments.results.is_dir() or arguments.results != Path("results")
    known = all_records(arguments.results) if given else {}
    for figure in arguments.figures:
        request, text = extract_request(figure)
        # What `carryover diagnose`, `forecast` or `rescale` wrote has its record next to it, outside any results.
        if (path := job_record.record_path(figure)).is_file():
            record = job_record.read(path)
            known = {name: record for name in record["outputs"] if Path(name).name == figure.name} | known
        name, how = find(figure, request, known)
        if not request and not name:
            raise UserError(f"{figure}: no request inside, and no result in {arguments.results} has these bytes")
        print(figure)
        if request:
            changed = not text and figure.suffix.lower() in FORMATS["figure"]  # tables have no metadata
            print(f"  carries request {request}" + (", and a text that was changed since" if changed else ""))
            for key, value in json.loads(text or "{}").items():
                print(f"    {key}: {json.dumps(value, ensure_ascii=False)}")
        if name:
            print("\n    ".join((f"  is {name}, {how}", *tree(name, known))))


def extract_request(path):
    """(digest, text) of the request that a figure, a table or a page carries; ("", "") where it carries none.

    The text is JSON in the metadata of a figure alone: plain in PNG, escaped in PDF. It is empty where it does not have
    that digest.
    """
    with store.regular(path) as file:
        content = file.read().decode("latin-1")
    if not (found := re.search(f"{job_record.NOTE}([0-9a-f]{{64}})", content)):
        return "", ""
    for text in (content, re.sub(r"\\(.)", r"\1", content)):
        with suppress(ValueError):
            start = text.index('{"code":')
            request = text[start : json.JSONDecoder().raw_decode(text, start)[1]]
            if hashlib.sha256(request.encode()).hexdigest() == found[1]:
                return found[1], request
    return found[1], ""


def find(path, request, known):
    """(name of the result with the bytes of a figure or else with its request, how it was found); ("", "") for none.

    `known` is {name: record} of all results, and `request` the digest that the figure carries.
    """
    sha256 = store.sha256(path)
    for name, record in known.items():
        if record["outputs"][name]["sha256"] == sha256:
            return name, "by its bytes"
    for name, record in known.items():
        if record["request"] == request and Path(name).suffix == path.suffix.lower():
            return name, "by its request alone: it was altered, or drawn with other software"
    return "", ""


def tree(name, known, sha256=None, depth=0, shown=None):
    """Lines of text: a result and, indented below it, all that it was made of, each with its record's digest.

    `known` is {name: record} of all results, `sha256` the hash that the result had when it was read for the one above
    it, and `shown` holds the results that have lines already.
    """
    indent, record, shown = "  " * depth, known.get(name), set() if shown is None else shown
    if record is None:
        yield f"{indent}{name}: sha256 {sha256[:12]}, not made here"
        return
    remark = "" if sha256 in (None, record["outputs"][name]["sha256"]) else "; MADE ANEW since it was read here"
    if name in shown:
        yield f"{indent}{name}: see above{remark}"
        return
    shown.add(name)
    digest, code = job_record.record_digest(record), record["code"]["digest"]
    parts = [record["rule"], f"record {digest[:12]}", f"code {code[:12]}"]
    if seeds := record["seeds"]:
        few = len(seeds) < 9
        parts.append(f"seeds {', '.join(map(str, seeds))}" if few else f"{len(seeds)} seeds from {seeds[0]}")
    parts += [f"commit {commit[:12]}{commit[40:]}" for commit in commits([record])]
    yield f"{indent}{name}: {', '.join(parts)}{remark}"
    for path, facts in record["inputs"].items():
        yield from tree(path, known, facts["sha256"], depth + 1, shown)
