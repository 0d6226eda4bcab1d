"""What a netCDF file has to see for other readers, but not in the dataset that `store.load` gives.

No file that `store.save` writes has any of it, and no tool that only packs a file otherwise adds any.
"""

import numpy as np


def first(path, datasets):
    """One thing in the file `path` of which the `datasets` that were loaded from it say nothing, in words; or None."""
    import netCDF4  # slow to load, and not needed by most who import this

    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        if len(datasets) == 1 and not file.groups:
            return next(_all(file, datasets[0]), None)
        numbers = {str(number) for number in range(len(datasets))}
        more = [f"a group {name}" for name in file.groups.keys() - numbers]
        more += [f"{name} beside its groups" for names in (file.variables, file.ncattrs()) for name in names]
        found = (one for name, part in zip(sorted(numbers, key=int), datasets, strict=True)
                 for one in _all(file.groups[name], part))  # fmt: skip
        return next(iter(more), None) or next(found, None)


def _all(file, dataset):
    yield from (f"a group {name}" for name in file.groups)
    yield from (f"a type {name}" for types in (file.cmptypes, file.vltypes, file.enumtypes) for name in types)
    used = {name for variable in file.variables.values() for name in variable.dimensions}
    yield from (f"a dimension {name} without variables" for name in file.dimensions if name not in used)
    # Coordinates that index nothing: xarray names them in each variable that has their dimensions, else in the whole.
    loose = {name: set(one.dims) for name, one in dataset.coords.items() if name not in dataset.dims}
    unnamed = set(loose)
    for name, variable in file.variables.items():
        loaded, names = dataset.variables[name], set()
        if variable.dimensions != loaded.dims or _type(variable.dtype) != _type(loaded.dtype).replace("bool", "int8"):
            yield f"another type or shape of {name}"
        elif loaded.dtype == bool and not np.isin(variable[...], (0, 1)).all():
            yield f"numbers in {name}, which says yes or no"
        if name not in dataset.coords:
            names = {coordinate for coordinate, dimensions in loose.items() if dimensions <= set(loaded.dims)}
            unnamed -= names
        added = {"dtype": "bool"} if loaded.dtype == bool else {}
        yield from _attributes(variable, loaded, names, added, name)
    yield from _attributes(file, dataset, unnamed, {}, "the file")


def _type(dtype):
    """A type by name, whatever its byte order."""
    return "text" if dtype is str or dtype.kind in "UO" else dtype.newbyteorder("=").name


def _attributes(owner, loaded, names, added, shown):
    """Attributes that the file alone has and xarray did not add, which are `coordinates` of these `names` and `added`.

    `store.load` leaves a `_FillValue` out where it is NaN, and then it says nothing.
    """
    added = added | ({"coordinates": " ".join(sorted(names))} if names else {})
    found = {name: owner.getncattr(name) for name in owner.ncattrs() if name not in loaded.attrs}
    found.pop("_FillValue", None)
    for name in sorted(found.keys() | added.keys()):
        if str(found.get(name)) != added.get(name):
            yield f"an attribute {name} of {shown}"
