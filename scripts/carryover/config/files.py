"""Files of a configuration, and how one is laid over another (standard library and YAML)."""

import json
import re
from pathlib import Path

import yaml

from carryover.errors import UserError

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # in C where there is one: ten times as fast
_NAMELESS = 'in "<unicode string>", '
_DEEP, _MANY = 100, 2000
_INT, _FLOAT = "tag:yaml.org,2002:int", "tag:yaml.org,2002:float"


def read(file, called):
    """The sections of a YAML or JSON file; UserError, with what the file is `called`, where it holds none.

    Refused, with their lines, are keys that stand twice, of which YAML takes the last without a word, sections that
    contain themselves, and numbers that YAML reads as others: 010 is 8, 1:30 is 90.
    """
    try:
        text = Path(file).read_text(encoding="utf-8-sig")
        # JSON is not quite YAML: that would read 1e-05 as text.
        content = json.loads(text, object_pairs_hook=_section) if Path(file).suffix == ".json" else _from_yaml(text)
    except OSError as error:
        raise UserError(f"{called}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise UserError(f"{called}: line {line} is no text in UTF-8") from None
    except _Refused as error:
        raise UserError(f"{called}: {error}") from None
    except RecursionError:  # of JSON
        raise UserError(f"{called} cannot be read: its sections lie too deep in each other") from None
    except (ValueError, yaml.YAMLError) as error:
        raise UserError(f"{called} cannot be read: {' '.join(str(error).replace(_NAMELESS, '').split())}") from None
    if not isinstance(content, dict | None):
        raise UserError(f"{called}: it must hold sections of keys and values")
    return content or {}


class _Refused(Exception):
    """What YAML or JSON would take, and a reader would not expect."""


def _section(pairs):
    keys = [key for key, _ in pairs]
    if twice := next((key for key in keys if keys.count(key) > 1), None):
        raise _Refused(f"the key {twice} stands twice in a section")
    return dict(pairs)


def _from_yaml(text):
    _check_depth(text)
    loader = LOADER(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        _check(node, loader, [], set())
        return loader.construct_document(node)
    finally:
        loader.dispose()


def _check_depth(text):
    """Refuse what would end the process: the composer in C calls itself for each section in a section."""
    if max(text.count("["), text.count("{"), text.count("- "), *map(len, text.splitlines() or [""])) < _MANY:
        return
    depth = 0
    for event in yaml.parse(text, Loader=LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEP:
            raise _Refused(f"line {event.start_mark.line + 1}: more than {_DEEP} sections or lists lie in each other")


def _check(node, loader, above, seen):
    """Refuse what stands twice in a section, what contains itself, and odd numbers, in a node and those below it."""
    if any(node is one for one in above):
        raise _Refused(f"line {node.start_mark.line + 1}: what stands there contains itself")
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.ScalarNode):
        _check_number(node, loader)
    lines = {}
    for entry in node.value if isinstance(node, yaml.CollectionNode) else ():
        key, value = entry if isinstance(entry, tuple) else (None, entry)
        if isinstance(key, yaml.ScalarNode):
            line = key.start_mark.line + 1
            if (key.tag, key.value) in lines:
                first = lines[key.tag, key.value]
                raise _Refused(f"line {line}: the key {key.value} stands in this section already, in line {first}")
            lines[key.tag, key.value] = line
        _check(value, loader, [*above, node], seen)


def _check_number(node, loader):
    odd = node.tag == _INT and re.fullmatch("[-+]?0[0-9_]+", node.value)
    if odd or (node.tag in (_INT, _FLOAT) and ":" in node.value):
        number = loader.construct_object(node)
        said = f"line {node.start_mark.line + 1}: YAML reads {node.value} as {number:g}"
        raise _Refused(f"{said}: write the number that is meant, or text in quotes")


def merged(first, *overlays):
    """The sections that Snakemake makes of the file that a Snakefile names and of those of --configfile over it.

    It lays these over each other, that under them, and them over it again, so that what they order anew keeps their
    order. A null stays, and takes what an earlier file says with it; see `laid_over` for what becomes of it.
    """
    above = {}
    for overlay in overlays:
        above = _updated(above, overlay)
    return _updated(_updated(above, first), above)


def _updated(below, above):
    """As `snakemake.utils.update_config`, which an audit's own environment need not have: an empty section over what is
    none leaves that as it is."""
    whole = dict(below) if isinstance(below, dict) else {}
    for key, value in above.items():
        whole[key] = _updated(whole.get(key, {}), value) if isinstance(value, dict) else value
    return whole if above else below


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
