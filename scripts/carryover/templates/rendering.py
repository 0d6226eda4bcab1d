"""Pages out of the templates in this folder: the values of variables are escaped, in elements and in attributes."""

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from carryover.config.artifacts import TEMPLATES

FOLDER = Path(__file__).parent
ENVIRONMENT = Environment(
    loader=FileSystemLoader(FOLDER), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
)


def files(rule: str) -> list[Path]:
    """The templates that a job of `rule` reads: those of the project that is the working folder, or the library's."""
    own = Path("scripts/carryover/templates")
    return [(own if (own / name).exists() else FOLDER) / name for name in TEMPLATES[rule]]


def rendered(template: str, **variables: Any) -> str:
    """The text of a template with these variables; jinja2.UndefinedError for one that is missing."""
    return ENVIRONMENT.get_template(template).render(variables)
