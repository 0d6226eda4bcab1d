"""What plug-ins ask of data that lack it, in a sentence (without pandas, which measures need not have)."""

import re
from collections.abc import Iterable
from contextlib import contextmanager

import numpy as np

from carryover.errors import UserError


@contextmanager
def lacking(name, shard, data):
    """Have something called `name` work on the `data` of a shard; UserError where these lack what it asks for."""
    try:
        yield
    except KeyError as error:
        wanted = asked(error)
        if not wanted or data is None or wanted in data:
            raise
        raise UserError(f"{name} needs {wanted}, which is not in {shard}.") from error


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
        raise UserError(
            f"{name_of(make)} fails where there is no finite number: {', '.join(empty)} ({told})"
        ) from error


def _is_empty(variable):
    return variable.dtype.kind == "f" and not np.isfinite(variable.values).any()


def asked(error):
    """The name that xarray or pandas was asked for in vain; None where the error is of other code, and so our own."""
    trace = error.__traceback__
    while trace.tb_next:
        trace = trace.tb_next
    library = trace.tb_frame.f_globals.get("__name__", "").partition(".")[0]
    told = error.args[0]
    told = told if isinstance(told, str) or not isinstance(told, Iterable) else next(iter(told), None)
    if library not in ("xarray", "pandas") or not isinstance(told, str):
        return None
    named = re.search(r"(?:\[|named |^)'(.+?)'", told)  # in a sentence, which both tell where there is more to say
    return named[1] if named else told


def name_of(make):
    """The plug-in that a function belongs to."""
    return make.__module__.rpartition(".")[2]
