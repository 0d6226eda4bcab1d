"""Files of a configuration, and how one is laid over another."""

import re
from functools import partial
from itertools import chain
from pathlib import Path

import yaml

from carryover.errors import UserError

_MOST, _LONGEST = 100_000, 30_000
"""Values of a file, each alias written out, and letters of a text, which may go on a command line."""


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """In C where there is one; refuses duplicate keys, of which YAML takes the last in silence, aliases that multiply,
    and texts that no command line takes."""

    def construct_document(self, node):
        if self._values(node, {}) > _MOST:
            raise yaml.constructor.ConstructorError(problem=f"it has more than {_MOST} values, aliases written out")
        return super().construct_document(node)

    def _values(self, node, known):
        """The number of values in a node, each alias counted as often as it stands, by which a small file may grow
        beyond memory; `known` are the numbers of earlier nodes."""
        if isinstance(node, yaml.ScalarNode):
            if "\0" in node.value or len(node.value) > _LONGEST:
                reason = f"a text has the character NUL or more than {_LONGEST} characters"
                raise yaml.constructor.ConstructorError(problem=reason, problem_mark=node.start_mark)
            return 1
        if node not in known:
            known[node] = 0  # should it be part of itself, which is refused later
            parts = chain(*node.value) if isinstance(node, yaml.MappingNode) else node.value
            known[node] = 1 + sum(self._values(part, known) for part in parts)
        return known[node]

    def construct_mapping(self, node, deep=False):
        # The key << merges another section, and may stand there repeatedly.
        keys = [key.value for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge"]
        for key, _ in node.value:
            if keys.count(key.value) > 1:
                reason = f"the key {key.value} stands twice in a section"
                raise yaml.constructor.ConstructorError(problem=reason, problem_mark=key.start_mark)
        return super().construct_mapping(node, deep=deep)


def _construct_number(construct, loader, node):
    """The number that the loader's method `construct` reads from a node.

    Raises ConstructorError for octal and sexagesimal notation, which YAML 1.1 reads in a way that few users intend: 010
    as 8, 1:30 as 90 and 1:30.5 as 90.5.
    """
    number = construct(loader, node)
    if re.fullmatch(r"[-+]?0[0-7_]+|.*:.*", node.value):
        reason = f"{node.value} is {number} in YAML: write that, or put it in quotes"
        raise yaml.constructor.ConstructorError(problem=reason, problem_mark=node.start_mark)
    return number


for _kind in ("int", "float"):
    _construct = partial(_construct_number, getattr(_Loader, f"construct_yaml_{_kind}"))
    _Loader.add_constructor(f"tag:yaml.org,2002:{_kind}", _construct)
_Loader.add_constructor("tag:yaml.org,2002:map", lambda loader, node: loader.construct_mapping(node, deep=True))


def read(file):
    """The sections of a YAML or JSON file; UserError where it holds none."""
    try:
        content = yaml.load(Path(file).read_text(encoding="utf-8-sig"), _Loader)
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}") from None
    except (ValueError, TypeError, RecursionError, yaml.YAMLError) as error:
        reason = " ".join(str(error).replace('"<unicode string>", ', "").split())
        raise UserError(f"{file} cannot be read: {reason}") from None
    if not isinstance(content, dict | None):
        raise UserError(f"{file}: it must hold sections of keys and values")
    return content or {}


def find_file(file, root):
    """A file or folder of the working directory, or else one of that name that comes with the workflow in `root`."""
    shipped = Path(root, file)
    return file if Path(file).exists() or not shipped.exists() else shipped.as_posix()


def nulls(sections, path=()):
    """The paths, as tuples of keys, of all nulls in nested sections."""
    for key, value in sections.items():
        if isinstance(value, dict):
            yield from nulls(value, (*path, key))
        elif value is None:
            yield (*path, key)


def overlaid(below, above, removing=False):
    """A copy of the nested sections `below` with those `above` laid over them, as Snakemake lays configuration files.

    Over the papers' files a configuration is laid `removing`: null removes what stands below, at any depth.
    """
    whole = dict(below)
    for key, value in above.items():
        if isinstance(value, dict) and isinstance(below.get(key), dict):
            whole[key] = overlaid(below[key], value, removing)
        elif removing and value is None and key in below:
            del whole[key]
        else:
            whole[key] = value
    return whole
