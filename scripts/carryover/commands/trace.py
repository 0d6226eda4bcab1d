"""Say where figures came from: by their bytes or by what they carry, and by the records under a folder of results."""

import argparse
import json
from pathlib import Path

from carryover.config.artifacts import FORMATS
from carryover.errors import UserError
from carryover.provenance import trace


def main(argv):
    parser = argparse.ArgumentParser(prog="carryover trace", description=__doc__, allow_abbrev=False)
    parser.add_argument("figures", nargs="+", type=Path, metavar="FIGURE", help="PNG or PDF")
    parser.add_argument("--results", default="results", type=Path, metavar="FOLDER", help="default: results")
    arguments = parser.parse_args(argv)
    # Without results at hand a figure still tells what it carries; a folder that was named must be there.
    given = arguments.results.is_dir() or arguments.results != Path("results")
    known = trace.all_records(arguments.results) if given else {}
    for figure in arguments.figures:
        request, text, name, how = trace.find(figure, known)
        if not request and not name:
            raise UserError(f"{figure}: no request inside, and no result in {arguments.results} has these bytes")
        print(figure)
        if request:
            changed = not text and figure.suffix.lower() in FORMATS["figure"]  # tables have no metadata
            print(f"  carries request {request}" + (", and a text that was changed since" if changed else ""))
            for key, value in json.loads(text or "{}").items():
                print(f"    {key}: {json.dumps(value, ensure_ascii=False)}")
        if name:
            print("\n    ".join((f"  is {name}, {how}", *trace.tree(name, known))))
