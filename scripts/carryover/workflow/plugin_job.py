"""Jobs of plug-ins: a script reads data by their roles, calls the plug-in's function and writes what it returns."""

from contextlib import contextmanager
from pathlib import Path

from carryover.config import parameters, plugins
from carryover.config.artifacts import ARTIFACTS, PLUGINS
from carryover.errors import UserError
from carryover.provenance import store
from carryover.workflow import command_line


@contextmanager
def started(argv, rule, description, files=(), said=None):
    """Parse the command line of a plug-in, and open its job: yields (job, its function, arguments with parameters `p`).

    Parameters
    ----------
    argv, rule, description
        Command line, name of the rule and of its script, and description of the script.
    files
        What the job reads besides its data.
    said
        A function of the name of the output, of what counts as `claims` among the parameters.
    """
    kind = PLUGINS[rule]
    name = command_line.chosen(argv, kind, rule, description)
    make, model = plugins.function_of(kind, name), parameters.model_of(kind, name)
    parser = command_line.parser(f"{rule}.py {name}", description)
    parser.set_defaults(data=[])
    if rule in ARTIFACTS:
        parser.add_argument("--roles", required=True, nargs="+", help="what each data file is for")
        parser.add_argument("--data", required=True, nargs="+", type=Path, metavar="FILE", help="in the order of roles")
    elif rule == "measure":
        parser.add_argument("--finetuned", required=True, nargs=1, dest="data", type=Path, metavar="FILE", help="shard")
    parameters.add_arguments(parser, model)
    arguments = parser.parse_args(argv[1:])
    arguments.p = parameters.from_arguments(model, arguments)
    inputs = [*arguments.data, *also_read(make, arguments.data), *files]
    p = {**dict(arguments.p), "claims": said(arguments.output[0].stem)} if said else arguments.p
    with command_line.job(rule, arguments, inputs, [make.__module__], parameters=p) as job:
        yield job, make, arguments


def also_read(make, files):
    """The files that a plug-in reads besides its data: those that attributes of the data, its `READS`, name."""
    names = getattr(plugins.load(make.__module__), "READS", ())
    parts = [part for file in files if names for part in store.load_all(file, lambda whole: whole[[]])]
    return list(dict.fromkeys(f for part in parts for name in names for f in parameters.files(part.attrs.get(name))))


def of_data(make, kind, arguments):
    """The result of a plug-in's function of data by role and parameters; UserError where the data lack a variable or
    coordinate, or where the result is of another kind."""
    if len(arguments.roles) != len(arguments.data):
        raise UserError("--roles and --data must name as many things each.")
    # CSV tables ship with the project.
    data = [store.read_table(file) if file.suffix == ".csv" else store.load(file) for file in arguments.data]
    with naming_what_is_missing(make, arguments.data):
        result = make(dict(zip(arguments.roles, data, strict=True)), arguments.p)
    return returned(make, kind, result)


def returned(make, kind, result):
    """The result of a plug-in's function; UserError where it is of another kind."""
    if not isinstance(result, kind):
        raise UserError(f"{full_name(make)} must return a {kind.__name__}, not {type(result).__name__}.")
    return result


def full_name(make):
    """`claims.atlas.check` of a function of a plug-in."""
    return f"{make.__module__}.{make.__name__}".removeprefix("carryover.")


@contextmanager
def naming_what_is_missing(make, files):
    """UserError, naming function and files, where a function looks for a name that its data do not have."""
    try:
        yield
    except KeyError as error:
        wanted = str(error.args[0]).partition("\n")[0]
        where = ", ".join(map(str, files))
        raise UserError(f"{full_name(make)} does not find what it needs in the data of {where}: {wanted}") from error
