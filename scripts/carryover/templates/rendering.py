"""Pages out of the templates in this folder: text that a template is told is escaped, in elements and in attributes."""

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from carryover.config.artifacts import TEMPLATES

FOLDER = Path(__file__).parent


def files(rule: str) -> list[Path]:
    """The templates that a job of `rule` reads, by their path from the working folder where that is the project's."""
    # In a replay that folder holds links, and Python names modules by what links lead to.
    inside = Path("scripts/carryover/templates")
    folder = inside if inside.exists() and inside.samefile(FOLDER) else FOLDER
    return [folder / name for name in TEMPLATES[rule]]


def rendered(template: str, **told: Any) -> str:
    """The text of a template, told these variables; jinja2.UndefinedError for one that it is not told."""
    return environment().get_template(template).render(told)


@cache
def environment() -> Environment:
    """Where templates find each other."""
    return Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
