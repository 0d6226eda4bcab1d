"""Files of a configuration, and how one is laid over another."""

import json
from pathlib import Path

import yaml

from carryover.errors import UserError

_DEEP, _MANY = 100, 100_000
"""Sections in each other, and values, that a file may hold."""


class _Refused(Exception):
    """What YAML or JSON would take, and a reader would not expect."""


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """In C where there is one; refuses a key that stands twice, of which YAML takes the last without a word."""

    def construct_mapping(self, node, deep=False):
        keys = [key.value for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge"]
        for key, _ in node.value:
            if key.tag != "tag:yaml.org,2002:merge" and keys.count(key.value) > 1:
                raise _Refused(f"line {key.start_mark.line + 1}: the key {key.value} stands twice in a section")
        return super().construct_mapping(node, deep=deep)


_Loader.add_constructor("tag:yaml.org,2002:map", lambda loader, node: loader.construct_mapping(node, deep=True))


def read(file, called):
    """The sections of a YAML or JSON file; UserError, with what the file is `called`, where it holds none."""
    try:
        text = Path(file).read_text(encoding="utf-8-sig")
        if max((line.count("[") + line.count("{") + line.count("- ") for line in text.splitlines()), default=0) > 2000:
            raise _Refused("a line has thousands of sections in each other")
        # JSON is not quite YAML: that would read 1e-05 as text.
        is_json = Path(file).suffix == ".json"
        content = json.loads(text, object_pairs_hook=_section) if is_json else yaml.load(text, _Loader)
        _check_size(content)
    except OSError as error:
        raise UserError(f"{called}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise UserError(f"{called}: line {line} is no text in UTF-8") from None
    except _Refused as error:
        raise UserError(f"{called}: {error}") from None
    except (ValueError, TypeError, RecursionError, yaml.YAMLError) as error:
        said = " ".join(str(error).replace('in "<unicode string>", ', "").split())
        raise UserError(f"{called} cannot be read: {said}") from None
    if not isinstance(content, dict | None):
        raise UserError(f"{called}: it must hold sections of keys and values")
    return content or {}


def _section(pairs):
    keys = [key for key, _ in pairs]
    if twice := next((key for key in keys if keys.count(key) > 1), None):
        raise _Refused(f"the key {twice} stands twice in a section")
    return dict(pairs)


def _check_size(content):
    """Refuse what anchors make endless or huge, and sections that lie too deep in each other."""
    todo, seen = [(content, 0)], 0
    while todo:
        node, depth = todo.pop()
        seen += 1
        if depth > _DEEP or seen > _MANY:
            raise _Refused(f"it holds more than {_DEEP} sections in each other, or more than {_MANY} values")
        if isinstance(node, dict | list):
            todo += [(one, depth + 1) for one in (node.values() if isinstance(node, dict) else node)]


def overlaid(below, above):
    """Sections with others laid over them, as Snakemake lays one configuration file over another."""
    both = {key: overlaid(below[key], value) for key, value in above.items() if _are_sections(below.get(key), value)}
    return {**below, **above, **both}


def laid_over(below, above):
    """Sections with others laid over them, as a configuration over the papers' files: key by key, and a list in the
    place of a list.

    But null takes away what stands below.
    """
    both = {key: laid_over(below[key], value) for key, value in above.items() if _are_sections(below.get(key), value)}
    gone = {key for key, value in above.items() if value is None and key in below}
    return {key: value for key, value in {**below, **above, **both}.items() if key not in gone}


def _are_sections(*values):
    return all(isinstance(value, dict) for value in values)
