"""Pages of the site that do not stand in docs/: those at the top, the reference, the figures of the last run."""

import json
import os
import re
import subprocess
from functools import cache
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
LIBRARY, FIGURES, REPORT = ROOT / "scripts/carryover", ROOT / "results/figures", ROOT / "results/report.html"
# Pages that stand at the top of the project, for those who read it there.
ELSEWHERE = {
    "README.md": "index.md",
    "config/README.md": "configuration.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
NOTEBOOK = "docs/notebook/notebook.py"


def on_files(files, config):
    """Add them to the files of docs/."""
    for source, page in ELSEWHERE.items():
        text = _relinked((ROOT / source).read_text(encoding="utf-8"), source, page)
        files.append(File.generated(config, page, content=text))
    files.append(File.generated(config, "notebook/index.md", content=_notebook()))
    for source in ("CITATION.cff", "LICENSE", "resources/archive/paper/claims.csv"):
        files.append(File.generated(config, source, abs_src_path=str(ROOT / source)))
    for name, modules in sorted(_modules().items()):
        reference = (f"::: {module}" for module in modules if not module.endswith(".parameters"))
        text = "\n\n".join([f"# {name}", *reference])
        files.append(File.generated(config, f"reference/{name}.md", content=text))
    for module in (one for modules in _modules().values() for one in modules if one.endswith(".parameters")):
        shown = "show_if_no_docstring: true, show_labels: false, show_signature_annotations: true"
        options = f"    options: {{{shown}, members_order: source}}"
        page = f"parameters/{module.removeprefix('carryover.').removesuffix('.parameters')}.md"
        files.append(File.generated(config, page, content=f"::: {module}\n{options}"))
    if figures := sorted(FIGURES.glob("*.png")):
        for figure in figures:
            files.append(File.generated(config, f"figures/{figure.name}", abs_src_path=str(figure)))
        report = REPORT.read_text(encoding="utf-8") if REPORT.is_file() else ""
        if report:
            files.append(File.generated(config, "report.html", content=report))
        drawn = []
        for name in (figure.stem for figure in figures):
            more = f"[Claims, data and provenance](../report.html#figure-{name})"
            drawn.append(f"## {name}\n\n![{name}]({name}.png)")
            drawn += [more] if f'id="figure-{name}"' in report else []
        text = "\n\n".join(["# Figures of the last run", *drawn])
        files.append(File.generated(config, "figures/index.md", content=text))
    return files


def on_page_markdown(markdown, page, config, files):
    """As `on_files`, of the links of pages that stand in docs/."""
    if page.file.generated_by:
        return markdown
    markdown = _longer_pages().get(page.file.src_uri, markdown)
    return _relinked(markdown, f"docs/{page.file.src_uri}", page.file.src_uri)


@cache
def _longer_pages():
    """{page: its text} of pages that show more on the site than in the repository, such as pictures and verdicts."""
    command = [ROOT / ".venv/bin/python", ROOT / "tools/findings.py", "--site"]
    return json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)


def _notebook():
    """The notebook as Markdown: texts, and blocks of code."""
    text = (ROOT / NOTEBOOK).read_text(encoding="utf-8")
    _, *parts = re.split(r"^# %%(.*)\n", text, flags=re.MULTILINE)
    cells = zip(parts[::2], parts[1::2], strict=True)  # kind and content
    return "\n".join(
        re.sub("^# ?", "", cell, flags=re.MULTILINE) if "markdown" in kind else f"```python\n{cell.strip()}\n```\n"
        for kind, cell in cells
    )


def _relinked(text, source, page):
    """The text of a file of the project, with links as they are in the site, of which it is this page."""

    def link(match):
        path, anchor = match[1], match[2] or ""
        if re.match("[a-z]+:", path):
            return match[0]
        target = os.path.normpath(os.path.join(os.path.dirname(source), path))
        there = (ELSEWHERE | {NOTEBOOK: "notebook/index.md"}).get(target, target.removeprefix("docs/"))
        return f"]({os.path.relpath(there, os.path.dirname(page) or '.')}{anchor})"

    return re.sub(r"\]\(([^)#\s]+)(#[^)\s]*)?\)", link, text)


def _modules():
    """{package of the library, or module at its root: its public modules by dotted name}."""
    found = {}
    for file in sorted(LIBRARY.rglob("*.py")):
        parts = file.relative_to(LIBRARY).with_suffix("").parts
        if not any(part.startswith("_") for part in parts):
            found.setdefault(parts[0], []).append(".".join(("carryover", *parts)))
    return found
