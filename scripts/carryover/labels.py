"""What variables and coordinates are called: their meaning, and how figures write them and their values.

Coordinates of runs carry their labels as attributes: `label`, a short name ("main-task samples n"), and `value_labels`,
names of values that are words ("finetuning": "PT+FT"), in the order in which figures show them. They are data:
`families/labels.json` has those of all families, and `labels.json` in the folder of a family its own.
"""

import json
from pathlib import Path

import xarray as xr

FAMILIES = Path(__file__).parent / "families"


def attributes(meaning, units="1"):
    """Attributes of a variable; pure numbers and text have the unit 1."""
    return {"long_name": meaning, "units": units}


def make_dataset(variables, coordinates):
    """A dataset of {variable: (dimensions, values, meaning)} and {coordinate: (values, meaning)}; units may follow. A
    coordinate is its own dimension."""
    return xr.Dataset(
        {name: (dims, values, attributes(*meaning)) for name, (dims, values, *meaning) in variables.items()},
        {name: (name, values, attributes(*meaning)) for name, (values, *meaning) in coordinates.items()},
    )


def attach_labels(data, family):
    """A copy of a dataset of runs whose coordinates have their labels as attributes.

    Labels are those of all families and those of `family`, which take precedence for each attribute and, of
    `value_labels`, for each value.
    """
    data = data.copy()
    found: dict = {}
    for file in (FAMILIES / "labels.json", FAMILIES / family / "labels.json"):
        own = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
        for name, attrs in own.items():
            words = found.get(name, {}).get("value_labels", {}) | attrs.get("value_labels", {})
            found[name] = found.get(name, {}) | attrs | ({"value_labels": words} if words else {})
    for name, attrs in found.items():
        if name in data.coords:
            # netCDF attributes hold no dictionaries: these become JSON.
            texts = {k: v if isinstance(v, str) else json.dumps(v, ensure_ascii=False) for k, v in attrs.items()}
            data[name].attrs |= texts
    return data


def label(data, coordinate):
    """The short name of a coordinate; its own name where it carries none."""
    return data[coordinate].attrs.get("label", coordinate)


def value_labels(data, coordinate):
    """{value: label} of a coordinate whose values are words, in the order of the field; nothing of any other."""
    return json.loads(data[coordinate].attrs.get("value_labels", "{}"))
