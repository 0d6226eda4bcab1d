"""Plug-ins, found by the decorators of their functions; the Snakefile plans with what these declare.

    class EffectiveNumber(Model):
        power: PositiveFloat = parameter(2.0, "coefficients are weighted by |β| to this power")


    @plugins.measure(needs=["coefficients"])
    def effective_number(data, p: EffectiveNumber):
        ...

The model that annotates `p` has the options; a function without options takes no `p`. Of a module, only decorators,
models and what these are made of are executed here: the Snakefile's environment may lack what plug-ins import.
"""

import ast
import importlib
import re
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from carryover.config.parameters import Model
from carryover.errors import UserError

load = importlib.import_module
LIBRARY = Path(__file__).resolve().parents[1]
DECORATORS = {
    "measures": "measure",
    "theory.curves": "curve",
    "claims": "check",
    "claims.comparisons": "comparison",
    "figures": "figure",
    "figures.tables": "table",
}
"""The decorator of each kind of plug-in, by the folder of its modules in `carryover`."""


def measure(
    *,
    needs: Sequence[str | tuple[str, ...]] = (),
    applies_to: Mapping[str, Any] | None = None,
    selects: bool = False,
    files: Sequence[str] = (),
    version: str = "",
) -> Callable:
    """Declare a measure, a function of a finetuned dataset that returns a dataset of the same runs.

    Parameters
    ----------
    needs
        Variables of the finetuned networks without which there is nothing to measure; of a tuple, any one. They decide
        which families and runs are measured.
    applies_to
        {parameter of finetuning: values} of the runs that are measured, `{"protocol": ("finetuning",)}`.
    selects
        Whether it only selects variables: then their values are not read.
    files
        Attributes of the data with paths of further files that it reads.
    version
        Pins its results: while it stays, an edit of the code or an option at its default measures nothing anew.
    """
    names = {"needs": _check_names(needs), "files": _check_names(files)}
    return _declare(**names, applies_to=applies_to or {}, selects=selects, version=version)


def curve() -> Callable:
    """Declare a theory curve, a function of its options that returns a dataset."""
    return _declare()


def _of_roles(*, data: Sequence[str] | None = None, optional: Sequence[str] = ()) -> Callable:
    """Declare a plug-in that reads datasets by their roles: `data` are those that it needs, `optional` those that it
    may have; without `data` it takes any."""
    return _declare(roles=None if data is None else _check_names(data), optional_roles=_check_names(optional))


check = comparison = figure = table = _of_roles


def _declare(**declared):
    """A decorator that leaves a function as it is, but for these fields of `Plugin` as its attribute `declared`."""
    if not isinstance(version := declared.get("version", ""), str):
        raise TypeError(f"version={version!r} must be text")

    def decorator(function):
        function.declared = declared
        return function

    return decorator


def _check_names(names):
    if isinstance(names, str):
        raise TypeError(f"{names!r} must be a list of names")
    return tuple(names)


@dataclass(frozen=True)
class Plugin:
    """What the function of a plug-in declares."""

    name: str
    module: str
    options: type[Model] | None
    needs: tuple = ()
    applies_to: Mapping[str, Any] = field(default_factory=dict)
    selects: bool = False
    files: tuple = ()
    version: str = ""
    roles: tuple | None = None
    optional_roles: tuple = ()

    @property
    def model(self) -> type[Model]:
        """The model of its options; one without fields where it has none."""
        return self.options or Model

    @property
    def any_of(self) -> list[tuple[str, ...]]:
        """For each need, the variables of which any one is enough."""
        return [(names,) if isinstance(names, str) else names for names in self.needs]

    @property
    def full_name(self) -> str:
        """`measures.clusters.inertia` of the function `inertia` in measures/clusters.py."""
        return f"{self.module}.{self.name}".removeprefix("carryover.")

    @property
    def code(self) -> str:
        """Its function, as `provenance.code_digest` names it."""
        return f"{self.module}:{self.name}"

    @property
    def function(self) -> Callable:
        return getattr(load(self.module), self.name)

    def __call__(self, *data: Any, p: Model) -> Any:
        return self.function(*data, p) if self.options else self.function(*data)


@cache
def _places(kind: str) -> dict[str, tuple[Path, int]]:
    """{name: (module's file, line of the function)} of the plug-ins of one kind, by a regular expression: every job
    looks its plug-in up, and parsing a folder takes longer than many jobs."""
    found: dict[str, tuple[Path, int]] = {}
    pattern = rf"^@(?:plugins\.)?{DECORATORS[kind]}\b.*\n(?:(?!def |class ).*\n)*?def (\w+)"
    for file in sorted(LIBRARY.joinpath(*kind.split(".")).glob("*.py")):
        source = file.read_text(encoding="utf-8")
        for match in re.finditer(pattern, source, re.MULTILINE):
            name, place = match[1], (file, source.count("\n", 0, match.start(1)) + 1)
            if name in found:
                raise UserError(f"two plug-ins are called {name}: {_place(*found[name])}, and {_place(*place)}.")
            found[name] = place
    return dict(sorted(found.items()))


@cache
def find(kind: str, name: str) -> Plugin:
    """A plug-in by its kind (`DECORATORS`) and name; UserError, naming file and line, for a wrong declaration."""
    file, line = _places(kind)[name]
    module = f"carryover.{kind}.{file.stem}"
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except SyntaxError as error:
        raise UserError(f"{_place(file, error.lineno)}: {error.msg}.") from None
    function = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.lineno == line)
    try:
        declared = _execute(tree, function, file, module)
    except Exception as error:  # of what its author wrote
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)]
        raise UserError(f"{_place(file, (lines or [function.lineno])[-1])}: {error}.") from error
    # A curve is made of its options alone; all other plug-ins take data before them.
    arguments = [] if kind == "theory.curves" else ["data"]
    given, options = [argument.arg for argument in function.args.args], None
    if given == [*arguments, "p"]:
        options = declared.__annotations__.get("p")
        if not (isinstance(options, type) and issubclass(options, Model)):
            place = _place(file, function.lineno)
            raise UserError(f"{place}: p of {name} must be annotated with the model of its options.")
    elif given != arguments:
        wanted, place = ", ".join([*arguments, "p"]), _place(file, function.lineno)
        raise UserError(f"{place}: {name} must have the arguments ({wanted}), without p if it has no options.")
    return Plugin(name, module, options, **declared.declared)


def forget() -> None:
    """Look for plug-ins anew, after one was added."""
    _places.cache_clear()
    find.cache_clear()


def names(kind: str) -> list[str]:
    """Names of the plug-ins of one kind, or of the families, sorted."""
    if kind == "families":
        return sorted(file.parent.name for file in LIBRARY.glob("families/*/parameters.py"))
    return list(_places(kind))


def call(kind: str, name: str, *data: Any, **options: Any) -> Any:
    """The result of a plug-in of its data, with options by name."""
    plugin = find(kind, name)
    return plugin(*data, p=plugin.model(**options))


def model_of(kind: str, name: str) -> type[Model]:
    """The model of a plug-in's options, or of a stage of a family (`families.relu`, `finetune`)."""
    if kind.startswith("families."):
        return getattr(load(f"carryover.{kind}.parameters"), name.title())
    return find(kind, name).model


def _place(file: Path, line: int | None) -> str:
    return f"{file.relative_to(LIBRARY.parents[1]).as_posix()}, line {line}"


def _execute(tree: ast.Module, function: ast.FunctionDef, file: Path, module: str) -> Any:
    """Execute a plug-in's declaration alone, and return the decorated function, with an empty body.

    `tree` is the parsed `file`. Of its statements, only those run that define names which the decorators and the
    annotation of `p` need, directly or indirectly: packages that others import may not be installed here. `module` is
    the file's dotted name.
    """
    defined = {name: statement for statement in tree.body for name in _names_of(statement)}
    p = [argument if argument.arg == "p" else ast.arg(argument.arg) for argument in function.args.args]
    empty = ast.FunctionDef(function.name, ast.arguments([], p, None, [], [], None, []), [ast.Pass()],
                            function.decorator_list, None)  # fmt: skip
    defined[function.name] = ast.copy_location(empty, function)
    needed: list[ast.stmt] = []
    todo = [function.name]
    while todo:
        statement = defined.get(todo.pop())
        if statement and statement not in needed:
            needed.append(statement)
            loaded = (node for node in ast.walk(statement) if isinstance(getattr(node, "ctx", None), ast.Load))
            todo += [node.id for node in loaded if isinstance(node, ast.Name)]
    # In the order of the file, in which each is made of earlier ones.
    body = ast.fix_missing_locations(ast.Module(sorted(needed, key=lambda statement: statement.lineno), []))
    known: dict[str, Any] = {"__name__": module}
    exec(compile(body, file, "exec"), known)
    return known[function.name]


def _names_of(statement: ast.stmt) -> list[str]:
    """The names that a statement defines."""
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return [alias.asname or alias.name.partition(".")[0] for alias in statement.names]
    if isinstance(statement, ast.ClassDef | ast.FunctionDef):
        return [statement.name]
    # `targets` of an Assign, `target` of an AnnAssign or AugAssign; other statements have neither.
    targets = getattr(statement, "targets", [getattr(statement, "target", None)])
    return [node.id for target in targets if target for node in ast.walk(target) if isinstance(node, ast.Name)]
