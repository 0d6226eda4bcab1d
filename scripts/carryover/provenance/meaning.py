"""What a Python source means for results, as nested tuples: two sources with the same meaning make the same results.

What does not count: comments, docstrings and other bare constants, `pass`, layout and the way a literal is written;
annotations, with what is imported for them alone (`__future__`, `typing`, `collections.abc`, all under
`if TYPE_CHECKING`); the words of an error that is raised; the help text, unit and metavar of a parameter or flag. So
nothing that ends up in a result may be taken from them: from `__doc__`, from a caught error's text, from
`__annotations__`. The one reader of annotations is `config.parameters`, so that those of fields that are made by
`parameter(...)` count, and of others in a class what `dataclasses` looks for in them.

The meaning is the same on every supported Python: `ast.dump` is not, since each version adds fields to its syntax
trees, prints them differently and splits f-strings its own way. Standard library only.
"""

import ast
from itertools import groupby

DEFINITION = 2
"""Number of this definition; records carry it, for digests of two definitions cannot be compared."""

# Load, Store and Del follow from where a name stands; kind tells u"" from "" and nothing else.
_REDUNDANT = frozenset({"ctx", "kind", "type_comment", "type_ignores"})
_FOR_ANNOTATIONS = frozenset({"__future__", "typing", "collections.abc"})
_READ_BY_DATACLASSES = frozenset({"ClassVar", "InitVar", "KW_ONLY"})
_TOLD_USERS = frozenset({"help", "metavar", "unit", "description"})
_TEXT = ("Text",)


def of(source: bytes) -> tuple[tuple, list[str]]:
    """(meaning, names that the source may import, sorted). Raises SyntaxError and ValueError as `ast.parse`."""
    reader = _Reader()
    return reader.read(ast.parse(source)), sorted(reader.imports)


class _Reader:
    def __init__(self) -> None:
        self.imports: set[str] = set()

    def read(self, node):
        """Nested tuples of a syntax tree without empty fields and without what does not count."""
        if isinstance(node, list):
            return tuple([self.read(item) for item in node if not _is_idle(item)])
        if not isinstance(node, ast.AST):
            return node
        special = getattr(self, f"_{type(node).__name__}", None)
        return special(node) if special else self._plain(node)

    def _plain(self, node, without=frozenset()):
        parts = [type(node).__name__]
        for field in node._fields:
            value = getattr(node, field, None)
            if value is None or field in _REDUNDANT or field in without:
                continue
            value = self.read(value)
            if value != ():
                parts.append((field, value))
        return tuple(parts)

    def _Import(self, node):
        self.imports |= {alias.name for alias in node.names}
        return self._plain(node)

    def _ImportFrom(self, node):
        """The b of `from a import b` may be a module or a name in a, so both are asked for; so is a star, as `a.*`."""
        if node.level:
            message = "relative import; write it from the top, as in `from carryover.theory import norms`"
            raise SyntaxError(message, (None, node.lineno, None, None))
        self.imports |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        return self._plain(node)

    def _JoinedStr(self, node):
        return ("JoinedStr", _merged(tuple(self.read(value) for value in node.values)))

    def _arg(self, node):
        return self._plain(node, {"annotation"})

    def _FunctionDef(self, node):
        return self._plain(node, {"returns"})

    _AsyncFunctionDef = _FunctionDef

    def _ClassDef(self, node):
        for field in node.body:
            field.of_class = True
        return self._plain(node)

    def _AnnAssign(self, node):
        """Outside a class, an assignment or what makes a name local; in one, what may be a field of a dataclass."""
        if not hasattr(node, "of_class"):
            if node.value is None:
                return ("Local", self.read(node.target))
            return ("Assign", ("targets", (self.read(node.target),)), ("value", self.read(node.value)))
        if isinstance(node.value, ast.Call) and _called(node.value) == "parameter":
            return self._plain(node)
        named = {one.id if isinstance(one, ast.Name) else getattr(one, "attr", "") for one in ast.walk(node.annotation)}
        return (*self._plain(node, {"annotation"}), ("annotation", tuple(sorted(named & _READ_BY_DATACLASSES))))

    def _Raise(self, node):
        """Which error, of what; not in which words."""
        if not isinstance(node.exc, ast.Call):
            return self._plain(node)
        told = _Words(self.imports)
        values = [told.read(value) for value in (*node.exc.args, *(word.value for word in node.exc.keywords))]
        return (*self._plain(node, {"exc"}), ("exc", self.read(node.exc.func)), ("told", tuple(values)))

    def _Call(self, node):
        called = _called(node)
        if called not in ("parameter", "add_argument", "ArgumentParser"):
            return self._plain(node)
        keywords = [word for word in node.keywords if word.arg not in _TOLD_USERS]
        args = node.args[:1] + node.args[2:] if called == "parameter" else node.args  # parameter(default, help, ...)
        return self._plain(ast.Call(func=node.func, args=args, keywords=keywords))


class _Words(_Reader):
    """Within what an error tells, any text is as good as another."""

    def __init__(self, imports: set[str]) -> None:
        self.imports = imports

    def _JoinedStr(self, node):
        return _TEXT

    def _Constant(self, node):
        return _TEXT if isinstance(node.value, str) else self._plain(node)


def _called(node: ast.Call) -> str:
    """The last name of what is called."""
    return getattr(node.func, "id", getattr(node.func, "attr", ""))


def _is_idle(node) -> bool:
    """Statements that do nothing for results: `pass`, bare constants, what is for annotations alone."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.If):
        asked = node.test
        return getattr(asked, "id", getattr(asked, "attr", "")) == "TYPE_CHECKING" and not node.orelse
    if isinstance(node, ast.ImportFrom):
        return not node.level and node.module in _FOR_ANNOTATIONS
    return isinstance(node, ast.Pass)


def _merged(values: tuple) -> tuple:
    """Parts of an f-string with neighbouring pieces of text joined, for versions cut them differently."""
    parts = []
    for is_text, group in groupby(values, key=lambda value: value[0] == "Constant"):
        group = list(group)
        if is_text:
            text = "".join(value[1][1] for value in group)
            group = [("Constant", ("value", text))] if text else []
        parts += group
    return tuple(parts)
