"""Print the JSON schema of the configuration, for editors, or write pages with all parameters."""

import argparse
import json
from pathlib import Path

from carryover.config import documentation
from carryover.workflow import command_line


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=Path, metavar="FOLDER", help="write pages there in place of the schema")
    folder = parser.parse_args(argv).pages
    if folder is None:
        print(json.dumps(documentation.schema(), indent=1, ensure_ascii=False))
        return
    folder.mkdir(parents=True, exist_ok=True)
    for name, page in documentation.pages().items():
        (folder / name).write_text(page, encoding="utf-8")


if __name__ == "__main__":
    command_line.run(main)
