"""Write config/schema.yaml, and docs/families and docs/parameters, anew from the parameters in the code."""

import argparse
from pathlib import Path

from carryover.workflow import command_line  # first: from here on Ctrl-C shows no trace

# isort: split
from carryover.config import configuration, documentation
from carryover.provenance import writing

ROOT = Path(__file__).resolve().parent.parent


def main(argv=None):
    argparse.ArgumentParser(description=__doc__).parse_args(argv)
    schema = configuration.schema()
    pages = {f"docs/{name}": page for name, page in documentation.pages(schema).items()}
    for name, text in {"config/schema.yaml": documentation.schema_text(schema), **pages}.items():
        with writing.atomic(ROOT / name) as unfinished:
            unfinished.write_text(text)


if __name__ == "__main__":
    command_line.run(main)
