"""What a running script has loaded, compared with what a record can say of it."""

import os
import sys
import sysconfig
from functools import cache
from pathlib import Path

from carryover.errors import UserError

# Installations of Python bring these along, wherever they stand.
_CUSTOM = ("sitecustomize", "usercustomize")
PACKAGES = {"site-packages", "dist-packages"}
# The folder of this library: a project's `scripts`, or one of installed packages.
_HOME = Path(__file__).parents[2]


def scripts():
    """The folder of the running script, where it is one of a project; else that in which this library stands."""
    main = vars(sys.modules["__main__"]).get("__file__")
    folder = Path(main).resolve().parent if main else _HOME
    # With a Python that does not look there for modules, the library may be an installed one, `check_library`.
    return folder if (folder / "carryover").is_dir() and not folder.samefile(_HOME) else _HOME


def check_library(scripts):
    """UserError where the library that runs is another than the one in a project's folder `scripts`."""
    if scripts.samefile(_HOME) or _sources(scripts) == _sources(_HOME):
        return
    from importlib import metadata  # slow to load, and not needed otherwise

    versions = [one.version for one in metadata.distributions(name="carryover-finetuning", path=[str(_HOME)])]
    named = " ".join(["carryover", *versions])
    raise UserError(
        f"the library that Python finds, {named} in {_HOME}, is not that of this project, in {scripts.resolve()}: "
        "install the project's own with `pip install -e .`, or uninstall the other"
    )


def _sources(folder):
    """{file of the library, relative to the folder: its bytes}."""
    return {file.relative_to(folder): file.read_bytes() for file in folder.glob("carryover/**/*.py")}


def check(rule, scripts, files):
    """UserError for a loaded module that the record of a job of `rule` would not name.

    `scripts` is the folder of the project's modules and `files` are those of them, relative to it, that the record
    names: an import by computed name cannot be seen before it runs. The library is the project's own wherever it is
    installed, see `check_library`. Any other module must belong to Python or to an installed package, whose versions
    the record has. Where another program runs than a script of the project, nothing is checked: it has modules of its
    own.
    """
    main = vars(sys.modules["__main__"]).get("__file__")
    if main is None or Path(main).resolve().parent != scripts.resolve():
        return
    library, inside = f"{_HOME}{os.sep}carryover{os.sep}", f"{scripts}{os.sep}"
    for name, file in sorted(_loaded().items()):
        local = file.startswith((library, inside))
        if not local and (name in _CUSTOM or _is_installed(file)):
            continue
        home = _HOME if file.startswith(library) else scripts
        # The running script may be named by a link.
        path, folder = (Path(file), home) if local else (Path(file).resolve(), scripts.resolve())
        if not path.is_relative_to(folder):
            raise UserError(
                f"{rule} loaded {name} from {file}, of which its record would say nothing: "
                "move it into scripts/, or install it as a package"
            )
        if (module := path.relative_to(folder).as_posix()) not in files:
            raise UserError(f"{rule} loaded {module}, which no import statement names: name it in its modules")


def _loaded():
    """{module: its file} of all that this process has loaded from files."""
    files = {name: getattr(module, "__dict__", {}).get("__file__") for name, module in list(sys.modules.items())}
    return {name: file for name, file in files.items() if isinstance(file, str)}


def _is_installed(file):
    """Whether a file is one of the standard library, or stands in a folder of installed packages, or is none."""
    if not PACKAGES.isdisjoint(file.split(os.sep)) or file.startswith(_python()) or not os.path.isfile(file):
        return True
    return os.path.realpath(file).startswith(_python())


@cache
def _python():
    """Folders of the standard library."""
    folders = {sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib")}
    return tuple(f"{path}{os.sep}" for folder in folders for path in (folder, os.path.realpath(folder)))
