"""Networks that a test makes up, in datasets of runs as finetuned shards are."""

import numpy as np
import xarray as xr

DIMENSIONS = {
    "first": ("unit", "input"), "second": ("output", "unit"),
    "start_first": ("unit", "input"), "start_second": ("output", "unit"),
    "teacher_directions": ("teacher_unit", "input"), "teacher_readout": ("teacher_unit",),
    "source_readout": ("teacher_unit",),
    "auxiliary_directions": ("auxiliary_unit", "input"), "auxiliary_readout": ("auxiliary_unit",),
    "inputs": ("sample", "input"), "targets": ("sample",),
    "coefficients": ("output", "input"), "teacher": ("input",), "auxiliary_teacher": ("input",),
    "start_first_plus": ("input",), "start_first_minus": ("input",),
    "start_second_plus": ("output", "input"), "start_second_minus": ("output", "input"),
}  # fmt: skip
"""{variable: its dimensions after `run`}."""


def networks(variables, **coordinates):
    """A dataset of {variable: values (run, …)} and of the runs' coordinates, seeds 0, 1, … if not given."""
    made = {"long_name": "made for a test", "units": "1"}
    coordinates = {"seed": range(len(next(iter(variables.values()))))} | coordinates
    return xr.Dataset(
        {name: (("run", *DIMENSIONS[name]), np.asarray(values), made) for name, values in variables.items()},
        {name: ("run", list(values), made) for name, values in coordinates.items()},
    )
