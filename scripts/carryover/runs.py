"""The runs of an xarray dataset over `run`: which they are, by coordinates (run,), and what is measured of them."""

import numpy as np

from carryover.errors import UserError
from carryover.labels import make_dataset


def coordinates(data):
    """{name: coordinate} of everything that says what the runs of a dataset are."""
    return {name: data[name] for name in data.coords if data[name].dims == ("run",)}


def with_run_coordinates(data, variables, **others):
    """A dataset of {variable: (dimensions, values, meaning)} with the coordinates of the runs of `data`; `others` are
    (values, meaning) of coordinates of other dimensions."""
    return make_dataset(variables, others).assign_coords(coordinates(data))


def measure_each_run(data, values_of, **others):
    """`with_run_coordinates` of `values_of`, a function of one run's dataset that returns {variable: (value, meaning)}.

    A value with n axes has the first n dimensions of the `others`. A ValueError of `values_of` is raised as a UserError
    that names the run.
    """
    found = []
    for run in range(data.sizes["run"]):
        network = data.isel(run=run)
        try:
            found.append(values_of(network))
        except ValueError as error:
            raise UserError(f"{error}, in the run with {format_identity(identity(network))}") from None
    variables = {}
    for name, (_, meaning) in found[0].items():
        values = np.array([of_run[name][0] for of_run in found])
        variables[name] = ("run", *others)[: values.ndim], values, meaning
    return with_run_coordinates(data, variables, **others)


def teacher_units(network, task="teacher"):
    """Directions (units, input) and coefficients (units,) of the ReLU teacher of one run, without its padding."""
    coefficients = network[f"{task}_readout"].values.astype(float)
    present = coefficients != 0
    return network[f"{task}_directions"].values[present].astype(float), coefficients[present]


def units_to_learn(network):
    """Coefficients (units, outputs) of the teacher's units of one run.

    With two outputs, main and auxiliary task, they are those of both teachers. A unit that both have, of the same
    direction in single precision, is one row with both coefficients; the others have 0 for the task without them.
    """
    directions, main = teacher_units(network)
    if network.sizes["output"] == 1:
        return main[:, None]
    auxiliary_directions, auxiliary = teacher_units(network, "auxiliary")
    same = directions @ auxiliary_directions.T > 1 - 1e-5  # (main units, auxiliary units)
    of_main = np.stack([main, same @ auxiliary], axis=1)
    auxiliary_alone = auxiliary[~same.any(axis=0)]
    of_auxiliary_alone = np.stack([np.zeros_like(auxiliary_alone), auxiliary_alone], axis=1)
    return np.concatenate([of_main, of_auxiliary_alone])


def identity(network):
    """{coordinate: value} of one run, a dataset without the dimension `run`, less those that it does not have."""
    known = {name: value.item() for name, value in network.coords.items() if value.ndim == 0}
    return {name: value for name, value in known.items() if value not in ("", None) and value == value}


def format_identity(values):
    """{coordinate: value} in words."""
    return ", ".join(f"{name}={value}" for name, value in values.items())


def run_mask(data, **values):
    """(run,) whether coordinates have the given values, NaN where a run has none; UserError for what is no coordinate,
    or no number."""
    keep = np.ones(data.sizes["run"], dtype=bool)
    for coordinate, value in values.items():
        if coordinate not in data.coords:
            raise UserError(f"runs have no coordinate {coordinate}; they have {', '.join(sorted(data.coords))}.")
        own = data[coordinate].values
        try:
            wanted = type(own[0])(value)  # of options, text
        except ValueError:
            raise UserError(f"{coordinate}={value} names no value of {coordinate}, which is a number.") from None
        keep &= (own == wanted) if wanted == wanted else (own != own)
    return keep


def select_runs(data, **values):
    """The runs of a dataset at which coordinates have the given values; UserError, with the values that there are, for
    none."""
    keep = run_mask(data, **values)
    if not keep.any():
        present = "; ".join(f"{name} is {', '.join(map(str, np.unique(data[name])))}" for name in values)
        raise UserError(f"no run has {format_identity(values)}: {present}.")
    return data.isel(run=keep)


def conditions(words):
    """{'rescale': '1.0'} from ('rescale=1.0',)."""
    return dict(word.split("=", 1) for word in words)
