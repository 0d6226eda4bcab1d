"""Content is all that a reader of netCDF can see: what only other readers see of a file is not the same content."""

import shutil

import netCDF4
import numpy as np
import pytest
import xarray as xr

from carryover.provenance import store

LABEL = {"long_name": "made for a test", "units": "1"}


@pytest.fixture
def path(tmp_path):
    """A file with coordinates that index nothing: of a run, of everything, and of what no variable has."""
    variables = {
        "w": (("run", "unit"), np.array([[1.0, np.nan], [0.5, 2.0]])),
        "flag": ("run", np.array([True, False])),
        "count": ("run", np.array([1, 2])),
    }
    coordinates = {"run": [3, 4], "arm": ("run", ["x", "y"]), "point": "one", "alone": ("other", [1.0, 2.0])}
    dataset = xr.Dataset(variables, coordinates, {"rate": 0.1})
    for variable in dataset.variables.values():
        variable.attrs.update(LABEL)
    store.save(dataset, tmp_path / "a.nc", record={"rule": "x"})
    assert store.content_digest(tmp_path / "a.nc")
    return tmp_path / "a.nc"


def reset(variable, value):
    variable.set_auto_maskandscale(False)
    variable[0] = value


REFUSED = {
    "a group": (lambda f: f.createGroup("hidden").setncattr("x", 1), "a group hidden"),
    "a dimension": (lambda f: f.createDimension("idle", 3), "a dimension idle without variables"),
    "a type": (lambda f: f.createEnumType(np.uint8, "kind", {"a": 1}), "a type kind"),
    "words": (lambda f: f["w"].setncattr("coordinates", "arm point hidden"), "an attribute coordinates of w"),
    "words of a coordinate": (lambda f: f["arm"].setncattr("coordinates", "point"), "an attribute coordinates of arm"),
    "words of all": (lambda f: f.setncattr("coordinates", "alone arm"), "an attribute coordinates of the file"),
    "fewer words": (lambda f: f["w"].delncattr("coordinates"), "an attribute coordinates of w"),
    "a number for yes": (lambda f: reset(f["flag"], 5), "numbers in flag, which says yes or no"),
    "an empty attribute": (lambda f: f["w"].setncattr("odd", np.array([])), "attribute odd of variable w is array"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_dataset_does_not_show_is_no_content(name, path):
    change, sentence = REFUSED[name]
    with netCDF4.Dataset(path, "a") as file:
        change(file)
    with pytest.raises(store.DataError) as raised:
        store.content_digest(path)
    assert f"a.nc has more than Carryover writes: {sentence}" in str(raised.value)


SEEN = {
    "scale": ("w", {"scale_factor": 2.0}),
    "offset": ("w", {"add_offset": 2.0}),
    "fill value": ("w", {"missing_value": 0.5}),
    "range": ("w", {"valid_max": 1.0}),
    "sign": ("count", {"_Unsigned": "true"}),
    "calendar": ("count", {"calendar": "noleap"}),
}


@pytest.mark.parametrize("name", SEEN)
def test_what_changes_how_values_are_read_is_another_content(name, path):
    known = store.content_digest(path)
    with netCDF4.Dataset(path, "a") as file:
        variable, attributes = SEEN[name]
        file[variable].setncatts(attributes)
    assert store.content_digest(path) != known


@pytest.mark.parametrize("fill", [None, np.nan])
def test_what_other_tools_pack_otherwise_is_the_same(fill, path, tmp_path):
    shutil.copy(path, tmp_path / "b.nc")
    with xr.open_dataset(path, decode_times=False, mask_and_scale=False) as opened:
        encoding = {"w": {"zlib": False, "chunksizes": (1, 2), "_FillValue": fill}}
        opened.load().to_netcdf(tmp_path / "b.nc", encoding=encoding)
    assert (tmp_path / "b.nc").read_bytes() != path.read_bytes()
    assert store.content_digest(tmp_path / "b.nc") == store.content_digest(path)
