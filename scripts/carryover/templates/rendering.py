"""Pages out of the templates in this folder: the values of variables are escaped, in elements and in attributes."""

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

FOLDER = Path(__file__).parent
ENVIRONMENT = Environment(
    loader=FileSystemLoader(FOLDER), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
)


def render(template: str, **variables: Any) -> str:
    """The text of a template with these variables; jinja2.UndefinedError for one that is missing."""
    return ENVIRONMENT.get_template(template).render(variables)
