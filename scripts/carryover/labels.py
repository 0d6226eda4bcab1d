"""What variables and coordinates are called: their meaning, and how figures write them and their values.

A coordinate of runs carries its own names, so that no figure has a table of them: `label`, a short name ("main-task
samples n"), and `value_labels`, names of values that are words ("finetuning": "PT+FT"), in the order of the field.
"""

import json

import xarray as xr


def attributes(meaning, units="1"):
    """Attributes of a variable; pure numbers and text have the unit 1."""
    return {"long_name": meaning, "units": units}


def described(variables, coordinates):
    """A dataset of {variable: (dimensions, values, meaning)} and {coordinate: (values, meaning)}; units may follow."""
    return xr.Dataset(
        {name: (dims, values, attributes(*meaning)) for name, (dims, values, *meaning) in variables.items()},
        {name: (name, values, attributes(*meaning)) for name, (values, *meaning) in coordinates.items()},
    )


def labelled(data, labels, value_labels):
    """A dataset whose coordinates carry their names: {coordinate: label} and {coordinate: {value: label}}."""
    data = data.copy()
    for name in data.coords:
        if name in labels:
            data[name].attrs["label"] = labels[name]
        if name in value_labels:
            data[name].attrs["value_labels"] = json.dumps(value_labels[name], ensure_ascii=False)
    return data


def label(data, coordinate):
    """The short name of a coordinate; its own name where it carries none."""
    return data[coordinate].attrs.get("label", coordinate)


def value_labels(data, coordinate):
    """{value: label} of a coordinate whose values are words, in the order of the field; nothing of any other."""
    return json.loads(data[coordinate].attrs.get("value_labels", "{}"))
