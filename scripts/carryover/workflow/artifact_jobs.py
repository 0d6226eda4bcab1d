"""What measures, comparisons, claims, figures and tables are made of, and the plug-ins that make them."""

import re
from contextlib import contextmanager

import numpy as np
import pandas as pd

from carryover.errors import UserError
from carryover.provenance import store
from carryover.workflow import command_line


def read(path):
    """A dataset, or a table that ships with the project; store.DataError in one sentence for a file that is neither."""
    return pd.read_csv(path) if path.suffix == ".csv" else store.load(path)


def made(make, kind, *told):
    """What a plug-in makes of what its function is told; UserError, naming it, where that is of another kind."""
    result = make(*told)
    if not isinstance(result, kind):
        raise UserError(f"{_name(make)} must return a {kind.__name__}, not {type(result).__name__}.")
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
        name = _asked(error)
        files = zip(arguments.roles, arguments.data, strict=True)
        lacking = [f"{role} ({file})" for role, file in files if name and name not in data[role]]
        if not lacking:
            raise
        raise UserError(f"{_name(make)} needs {name}, which is not in the data of: {', '.join(lacking)}.") from error


def made_of_shard(measure, shard, data, p):
    """What a measure's function makes of the `data` of a shard; UserError as `made_of_roles`."""
    try:
        with numbers_needed(measure, {"finetuned": data}):
            return measure(data, p)
    except KeyError as error:
        name = _asked(error)
        if not name or name in data:
            raise
        raise UserError(f"{_name(measure)} needs {name}, which is not in {shard}.") from error


@contextmanager
def numbers_needed(make, data):
    """Have a plug-in's function work on data by role; UserError, naming them, where it fails over variables without a
    finite number."""
    try:
        yield
    except (ValueError, IndexError, ArithmeticError) as error:
        empty = [f"{name} of {role}" for role, one in data.items() for name in one if _is_empty(one[name])]
        if isinstance(error, UserError) or not empty:
            raise
        told = str(error).partition("\n")[0]
        raise UserError(f"{_name(make)} fails where there is no finite number: {', '.join(empty)} ({told})") from error


def _is_empty(variable):
    return variable.dtype.kind == "f" and not np.isfinite(variable.values).any()


def _asked(error):
    """The name that xarray or pandas was asked for in vain; None where the error is of other code, and so our own."""
    trace = error.__traceback__
    while trace.tb_next:
        trace = trace.tb_next
    library = trace.tb_frame.f_globals.get("__name__", "").partition(".")[0]
    told = error.args[0]
    told = told[0] if isinstance(told, list | pd.Index) else told
    if library not in ("xarray", "pandas") or not isinstance(told, str):
        return None
    named = re.search(r"(?:\[|named |^)'(.+?)'", told)  # in a sentence, which both tell where there is more to say
    return named[1] if named else told


def _name(make):
    return make.__module__.rpartition(".")[2]
