"""Write config/schema.yaml, and the tables of config/README.md, anew from the parameters in the code."""

import argparse
from pathlib import Path

from carryover.config import configuration, documentation

ROOT = Path(__file__).resolve().parent.parent


def main(argv=None):
    argparse.ArgumentParser(description=__doc__).parse_args(argv)
    schema = configuration.schema()
    (ROOT / "config/schema.yaml").write_text(documentation.schema_text(schema))
    page = ROOT / "config/README.md"
    page.write_text(documentation.fill(page.read_text(), schema))


if __name__ == "__main__":
    main()
