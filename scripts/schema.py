"""Write config/schema.yaml, and docs/families and docs/parameters, anew from the parameters in the code."""

import argparse
from pathlib import Path

from carryover.config import configuration, documentation
from carryover.workflow import command_line

ROOT = Path(__file__).resolve().parent.parent


def main(argv=None):
    argparse.ArgumentParser(description=__doc__).parse_args(argv)
    schema = configuration.schema()
    (ROOT / "config/schema.yaml").write_text(documentation.schema_text(schema))
    for name, page in documentation.pages(schema).items():
        (ROOT / "docs" / name).write_text(page)


if __name__ == "__main__":
    command_line.run(main)
