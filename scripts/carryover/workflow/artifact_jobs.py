"""What comparisons, claims, figures and tables are made of, and the plug-ins that make them."""

from carryover.analysis import text_tables
from carryover.errors import UserError
from carryover.provenance import store
from carryover.workflow import command_line
from carryover.workflow.asked_in_vain import asked, name_of, numbers_needed


def read(path):
    """A dataset, or a table that ships with the project; store.DataError in one sentence for a file that is neither."""
    return text_tables.read(path) if path.suffix == ".csv" else store.load(path)


def made(make, kind, *told):
    """What a plug-in makes of what its function is told; UserError, naming it, where that is of another kind."""
    result = make(*told)
    if not isinstance(result, kind):
        raise UserError(f"{name_of(make)} must return a {kind.__name__}, not {type(result).__name__}.")
    return result


def made_of_roles(make, kind, arguments, p):
    """What a plug-in's function makes of the data that the command line names, and of its parameters.

    Raises UserError where the data lack a variable or coordinate that the function asks for, naming the plug-in and the
    roles without it, where it fails over variables without a number, and where it makes what is not of the kind.
    """
    data = command_line.by_role(arguments, read)
    try:
        with numbers_needed(make, data):
            return made(make, kind, data, p)
    except KeyError as error:
        name = asked(error)
        files = zip(arguments.roles, arguments.data, strict=True)
        lacking = [f"{role} ({file})" for role, file in files if name and name not in data[role]]
        if not lacking:
            raise
        raise UserError(f"{name_of(make)} needs {name}, which is not in the data of: {', '.join(lacking)}.") from error
