"""The versions in a record are those of the packages that a process has loaded."""

from importlib.metadata import version

import xarray  # noqa: F401  one that is loaded

from carryover.provenance import environment


def test_versions_are_those_that_importlib_names():
    loaded = environment.loaded_versions()
    assert loaded == {name: version(name) for name in loaded}
    assert {"numpy", "pytest", "xarray"} <= loaded.keys()
