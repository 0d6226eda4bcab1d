"""The runs of a dataset: what says which they are, and which of them have learned features."""

from contextlib import contextmanager

import xarray as xr

from carryover.errors import UserError
from carryover.labels import attributes

ALL_LAYERS = {"protocol": ("single_task", "multi_task", "finetuning")}
"""Protocols that train every layer, `APPLIES_TO` of measures of learned features: a probe or a kernel has those of its
start."""


def coordinates(data):
    """{name: coordinate} of everything that says what the runs of a dataset are."""
    return {name: data[name] for name in data.coords if data[name].dims == ("run",)}


def measured(data, variables, meanings, **others):
    """A dataset of {variable: (dimensions, values)} of the runs of a dataset, with other coordinates, and what each of
    them means."""
    result = xr.Dataset(variables, coordinates(data) | others)
    for name, meaning in meanings.items():
        result[name].attrs = attributes(meaning)
    return result


@contextmanager
def naming(network):
    """Let a ValueError about one run, a dataset without the dimension `run`, name it by its coordinates: UserError."""
    try:
        yield
    except ValueError as error:
        which = ", ".join(f"{name} {value.item()}" for name, value in network.coords.items() if value.ndim == 0)
        raise UserError(f"{error}, in the run with {which}") from None
