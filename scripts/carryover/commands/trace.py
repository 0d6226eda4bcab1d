"""Say where figures came from: by what they carry, and by the records under a folder of results.

A PNG that lost its name and metadata is found by its pixels; an SVG or PDF that carries nothing by its bytes alone.
"""

import argparse
import json
from pathlib import Path

from carryover.errors import UserError
from carryover.provenance import record_index, trace


def described(figure, origin, known):
    """Lines on one figure, of its `Origin` among the results `known`."""
    yield str(figure)
    if origin.carried:
        request, text = origin.carried
        yield f"  carries request {request}" + ("" if text else ", without the text of that digest")
        for key, value in json.loads(text or "{}").items():
            yield f"    {key}: {json.dumps(value, ensure_ascii=False)}"
    if origin.result:
        yield f"  is {origin.result.file}, by {origin.by}{', BUT carries another request' * origin.contradicts}"
        for line in trace.tree(origin.result, known):
            yield f"    {line}"


def main(argv, prog="carryover trace"):
    parser = argparse.ArgumentParser(prog=prog, description=__doc__, allow_abbrev=False)
    parser.add_argument("figures", nargs="+", type=Path, metavar="FIGURE", help="PNG, SVG or PDF")
    parser.add_argument("--results", default="results", type=Path, metavar="FOLDER", help="default: results")
    arguments = parser.parse_args(argv)
    # Without results at hand a figure still tells what it carries; a folder that was named must be there.
    given = arguments.results.is_dir() or arguments.results != Path("results")
    known = record_index.all_made(arguments.results) if given else {}
    lost, contradicting = [], []
    for figure in arguments.figures:
        origin = trace.find(figure, known)
        if origin.carried or origin.result:
            print("\n".join(described(figure, origin, known)))
            contradicting += [str(figure)] * origin.contradicts
        else:
            lost.append(str(figure))
    if lost:
        seen = "bytes or pixels" if any(name.lower().endswith(".png") for name in lost) else "bytes"
        raise UserError(f"{', '.join(lost)}: no request inside, and no result in {arguments.results} has these {seen}")
    if contradicting:
        raise UserError(f"{', '.join(contradicting)}: the request inside is not that of the result which is seen")
