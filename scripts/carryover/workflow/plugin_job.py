"""Jobs of plug-ins: a script reads data by their roles, calls the plug-in's function and writes what it returns."""

from contextlib import contextmanager
from pathlib import Path

from carryover.config import parameters, plugins
from carryover.errors import UserError
from carryover.provenance import store, text_tables
from carryover.provenance.job_record import Job
from carryover.workflow import command_line


@contextmanager
def started(argv, rule, kind, description, *additions, formats=None):
    """Parse the command line of a plug-in, and open its job: yields (job, plug-in, its parameters, all arguments).

    Parameters
    ----------
    argv, rule, kind, description
        Command line, name of the rule and of its script, folder of the plug-ins, and description of the script.
    additions
        Functions that add the rule's own flags to a parser, such as `add_data`.
    formats
        Suffixes that outputs may have; any where not given.
    """
    name = command_line.chosen(argv, kind, rule, description)
    module, model = plugins.load(f"carryover.{kind}.{name}"), parameters.model_of(kind, name)
    parser = command_line.parser(f"{rule}.py {name}", description)
    for add in additions:
        add(parser)
    parameters.add_arguments(parser, model)
    arguments = parser.parse_args(argv[1:])
    p = parameters.from_arguments(model, arguments)
    if "roles" in arguments and len(arguments.roles) != len(arguments.data):
        counts = f"{len(arguments.roles)} and {len(arguments.data)}"
        raise UserError(f"--roles and --data must name as many things each: they name {counts}.")
    for output in arguments.output if formats else ():
        if Path(output).suffix not in formats:
            raise UserError(f"--output {output}: its suffix must be one of {', '.join(formats)}.")
    with Job(
        rule=rule,
        parameters=p,
        wildcards=command_line.wildcards(arguments),
        inputs=inputs(module, arguments),
        outputs=arguments.output,
        modules=[rule, module.__name__],
    ) as job:
        yield job, module, p, arguments


def add_data(parser):
    """The flags of what is made of collected datasets."""
    parser.add_argument("--roles", required=True, nargs="+", help="what each data file is for")
    parser.add_argument("--data", required=True, nargs="+", type=Path, metavar="FILE", help="in the order of --roles")


def inputs(module, arguments):
    """All files that the job reads."""
    if "finetuned" in arguments:
        return [arguments.finetuned, *also_read(module, arguments.finetuned)]
    return [*getattr(arguments, "data", ()), *([arguments.style] if "style" in arguments else [])]


class Roles(dict):
    """Data by role; a role that was not given is a user's mistake."""

    def __missing__(self, role):
        raise UserError(f"data of the role {role} are needed; given were: {', '.join(self)}.")


def of_data(make, kind, arguments, p):
    """The result of a plug-in's function of data by role and parameters; UserError as `checked`, and where the data
    lack a variable or coordinate."""
    data = Roles(zip(arguments.roles, map(read, arguments.data), strict=True))
    with naming_what_is_missing(make, arguments.data):
        return checked(make(data, p), kind, make)


def read(path):
    """A dataset, or a table that ships with the project; DataError for a file that is neither."""
    return text_tables.read(path) if path.suffix == ".csv" else store.load(path)


def checked(result, kind, make):
    """The result of a plug-in's function; UserError where it is of another kind."""
    if not isinstance(result, kind):
        plugin = make.__module__.rpartition(".")[2]
        raise UserError(f"{plugin} must return a {kind.__name__}, not {type(result).__name__}.")
    return result


@contextmanager
def naming_what_is_missing(make, files):
    """UserError, naming the plug-in and the files, where a function looks for a name that its data do not have."""
    try:
        yield
    except KeyError as error:
        plugin = make.__module__.rpartition(".")[2]
        wanted = str(error.args[0]).partition("\n")[0]
        where = ", ".join(map(str, files))
        raise UserError(f"{plugin} needs {wanted}, which is not in the data of: {where}.") from error


def measured(module, p, path):
    """A measure of each dataset of a shard that it applies to.

    A measure that only selects (`SELECTS = True`) gets datasets whose values are not read yet.
    """
    if getattr(module, "SELECTS", False):
        return store.load_all(path, lambda part: module.measure(part, p))
    conditions, found = type(p).APPLIES_TO, []
    for part in store.load_all(path):
        axes = {axis: part[axis].values[0] for axis in conditions if axis in part.coords}
        if parameters.applies(conditions, axes):
            with naming_what_is_missing(module.measure, [path]):
                found.append(module.measure(part, p))
    return found


def also_read(module, path):
    """The files that a measure reads besides the shard: those that attributes of the shard, its `READS`, name."""
    names = getattr(module, "READS", ())
    parts = store.load_all(path, lambda part: part[[]]) if names else []
    return list(dict.fromkeys(f for part in parts for name in names for f in parameters.files(part.attrs.get(name))))
