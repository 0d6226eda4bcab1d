"""What comparisons, claims, figures and tables are made of, and the plug-ins that make them."""

from carryover.errors import UserError
from carryover.provenance import store, text_tables
from carryover.workflow import command_line


def read(path):
    """A dataset, or a table that ships with the project; store.DataError in one sentence for a file that is neither."""
    return text_tables.read(path) if path.suffix == ".csv" else store.load(path)


def made(make, kind, *arguments):
    """What a plug-in's function makes of its arguments; UserError where that is of another kind."""
    result = make(*arguments)
    if not isinstance(result, kind):
        plugin = make.__module__.rpartition(".")[2]
        raise UserError(f"{plugin} must return a {kind.__name__}, not {type(result).__name__}.")
    return result


def made_of_roles(make, kind, arguments, p):
    """What a plug-in's function makes of the data that the command line names, and of its parameters.

    Raises UserError where the data lack a variable or coordinate that the function asks for, and where it makes what is
    not of the kind.
    """
    data = command_line.by_role(arguments, read)
    with command_line.naming_what_is_missing(make, arguments.data):
        return made(make, kind, data, p)
