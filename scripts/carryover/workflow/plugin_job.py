"""Jobs of plug-ins: a script reads data by their roles, calls the plug-in's function and writes what it returns."""

import traceback
from contextlib import contextmanager
from pathlib import Path

from carryover.config import parameters, plugins
from carryover.config.artifacts import ARTIFACTS, PLUGINS
from carryover.errors import UserError
from carryover.provenance import store
from carryover.workflow import command_line


@contextmanager
def open_job(argv, rule, description, files=(), said=None):
    """Parse the command line of a plug-in, and open its job: yields (job, its `Plugin`, arguments with parameters `p`).

    Parameters
    ----------
    argv, rule, description
        Words of the command line, name of the rule and of its script, and description of the script.
    files
        What the job reads besides its data.
    said
        For groups of claims: a function of a group's name, that of the output, which returns what claims.yaml says of
        it. It counts as the parameter `claims`, so that an edited bound is another request.
    """
    kind = PLUGINS[rule]
    plugin = plugins.find(kind, command_line.read_plugin(argv, kind, rule, description))
    parser = command_line.parser(f"{rule}.py {plugin.name}", description)
    parser.set_defaults(data=[])
    if rule in ARTIFACTS:
        parser.add_argument("--roles", required=True, nargs="+", help="what each data file is for")
        parser.add_argument("--data", required=True, nargs="+", type=Path, metavar="FILE", help="in the order of roles")
    elif rule == "measure":
        parser.add_argument("--finetuned", required=True, nargs=1, dest="data", type=Path, metavar="FILE", help="shard")
    parameters.add_arguments(parser, plugin.model)
    arguments = parser.parse_args(argv[1:])
    arguments.p = parameters.from_arguments(plugin.model, arguments)
    inputs = [*arguments.data, *extra_files(plugin, arguments.data), *files]
    p = {**dict(arguments.p), "claims": said(arguments.output[0].stem)} if said else arguments.p
    with command_line.job(rule, arguments, inputs, [plugin.code], parameters=p) as job:
        yield job, plugin, arguments


def extra_files(plugin, files):
    """[path] of the files that a `Plugin` reads besides its data `files`. Attributes of the data, whose names are in
    `plugin.files`, hold their paths."""
    names = plugin.files
    # `whole[[]]` selects no variables: only attributes are read.
    parts = [part for file in files if names for part in store.load_all(file, lambda whole: whole[[]])]
    return list(
        dict.fromkeys(f for part in parts for name in names for f in parameters.files(part.attrs.get(name, "")))
    )


def of_data(plugin, kind, arguments):
    """What a `Plugin` returns for the parsed `arguments` of `open_job`: it gets {role: dataset or table} and `p`.

    UserError where roles or the data lack something, or where the result is not of the class `kind`.
    """
    if len(arguments.roles) != len(arguments.data):
        raise UserError("--roles and --data must name as many things each.")
    if missing := [role for role in plugin.roles or () if role not in arguments.roles]:
        raise UserError(f"--roles: {', '.join(missing)} is missing.")
    # CSV tables ship with the project.
    data = [store.read_table(file) if file.suffix == ".csv" else store.load(file) for file in arguments.data]
    with name_missing(plugin, arguments.data):
        result = plugin(dict(zip(arguments.roles, data, strict=True)), p=arguments.p)
    return check_type(plugin, kind, result)


def check_type(plugin, kind, result):
    """The result of a plug-in; UserError where it is of another kind."""
    if not isinstance(result, kind):
        raise UserError(f"{plugin.full_name} must return a {kind.__name__}, not {type(result).__name__}.")
    return result


@contextmanager
def name_missing(plugin, files):
    """A context in which a `Plugin` runs: where it asks the datasets of `files` for a name that they lack, the KeyError
    becomes a UserError with that name.

    A KeyError of another mapping, such as a dictionary of the plug-in, is a mistake in its code and stays as it is.
    """
    try:
        yield
    except KeyError as error:
        calls = [(frame.f_globals.get("__name__", ""), line) for frame, line in traceback.walk_tb(error.__traceback__)]
        # The innermost frame shows which library raised the error, the innermost one of Carryover where it was called.
        if calls[-1][0].partition(".")[0] not in ("xarray", "pandas"):
            raise
        line = next(line for module, line in reversed(calls) if module.startswith("carryover."))
        wanted = str(error.args[0]).partition("\n")[0]
        where = ", ".join(map(str, files))
        raise UserError(
            f"{plugin.full_name}, line {line}, does not find what it needs in the data of {where}: {wanted.rstrip('.')}"
        ) from error
