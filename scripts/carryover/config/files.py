"""Files of a configuration, and how one is laid over another."""

import json
from pathlib import Path

import yaml

from carryover.errors import UserError


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """In C where there is one; refuses duplicate keys, of which YAML takes the last in silence."""

    def construct_mapping(self, node, deep=False):
        keys = [key.value for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge"]
        for key, _ in node.value:
            if keys.count(key.value) > 1:
                raise UserError(f"line {key.start_mark.line + 1}: the key {key.value} stands twice in a section")
        return super().construct_mapping(node, deep=deep)


_Loader.add_constructor("tag:yaml.org,2002:map", lambda loader, node: loader.construct_mapping(node, deep=True))


def read(file, called):
    """The sections of a YAML or JSON file; UserError, with the name `called`, where it holds none."""
    try:
        text = Path(file).read_text(encoding="utf-8-sig")
        # JSON is not quite YAML: that would read 1e-05 as text.
        is_json = Path(file).suffix == ".json"
        content = json.loads(text, object_pairs_hook=_section) if is_json else yaml.load(text, _Loader)
    except OSError as error:
        raise UserError(f"{called}: {error.strerror}") from None
    except UserError as error:
        raise UserError(f"{called}: {error}") from None
    except (ValueError, TypeError, RecursionError, yaml.YAMLError) as error:
        reason = " ".join(str(error).replace('in "<unicode string>", ', "").split())
        raise UserError(f"{called} cannot be read: {reason}") from None
    if not isinstance(content, dict | None):
        raise UserError(f"{called}: it must hold sections of keys and values")
    return content or {}


def _section(pairs):
    keys = [key for key, _ in pairs]
    if twice := next((key for key in keys if keys.count(key) > 1), None):
        raise UserError(f"the key {twice} stands twice in a section")
    return dict(pairs)


def overlaid(below, above):
    """Sections with others laid over them, as Snakemake lays one configuration file over another."""
    both = {key: overlaid(below[key], value) for key, value in above.items()
            if isinstance(value, dict) and isinstance(below.get(key), dict)}  # fmt: skip
    return {**below, **above, **both}


def laid_over(below, above):
    """As `overlaid`, for a configuration over the papers' files: null removes what stands below, at any depth."""
    gone = {key for key, value in above.items() if value is None and key in below}
    both = {key: laid_over(below[key], value) for key, value in above.items()
            if isinstance(value, dict) and isinstance(below.get(key), dict)}  # fmt: skip
    return {key: value for key, value in {**below, **above, **both}.items() if key not in gone}
