"""The page on the anatomy of a figure names exactly the files that the imports of the code behind the number reach."""

import ast
import re

from carryover.provenance.code_digest import closure_files
from toy.small_project import ROOT

# what the scripts of the four rules load by name
LOADED = ("families.stages", "families.relu.parameters", "families.relu.pretrain", "families.relu.finetune",
          "families.relu.solvers", "measures.recorded", "figures.facets")  # fmt: skip
ASIDE = ("config/", "workflow/", "provenance/")


def code(file):
    """The statements of a module after its docstring."""
    return ast.parse(file.read_text()).body[1:]


def test_the_page_names_every_file_behind_the_number():
    page = (ROOT / "docs/anatomy.md").read_text()
    named = re.findall(r"`([\w/]+\.py)`", page)
    library = ROOT / "scripts/carryover"
    reached = closure_files(library.parent, *(f"carryover.{name}" for name in LOADED))
    files = {file.removeprefix("carryover/") for file in reached}
    files = {file for file in files if not file.startswith(ASIDE) and code(library / file)}
    assert sorted(named) == sorted(files)
    count, lines = re.search(r"names all (\d+)\s+files, with about ([\d,]+) lines", page).groups()
    assert int(count) == len(files)
    measured = sum(len((library / file).read_text().splitlines()) for file in files)
    assert abs(int(lines.replace(",", "")) / measured - 1) < 0.1
    opened = [file for row in page.splitlines() if row.startswith("| ")
              for file in re.findall(r"`([\w/]+\.py)`", row.split("|")[2])]  # fmt: skip
    read = [line for file in opened for line in (library / file).read_text().splitlines() if line.strip()]
    assert len(opened) <= 12
    assert len(read) <= 1600
