"""How far two trainings may be apart that differ in the order of their sums alone, and nothing more."""

import numpy as np
import xarray as xr

UNIT = {"float32": 2.0**-24, "float64": 2.0**-53}  # the largest relative error of one rounding


def share(precision, steps, terms):
    """Of the largest number of an array: a sum of `terms` products in another order is off by at most their number of
    roundings, in each of `steps` steps.

    Higham, Accuracy and stability of numerical algorithms, section 3.1, to first order, for trainings that are as short
    and stable as those of the tests: what a step has rounded the next ones do not enlarge.
    """
    return UNIT[precision] * steps * terms


def assert_alike(found, expected, share, name=""):
    """Arrays agree, floating-point numbers up to `share` of the largest one that is expected; all else exactly."""
    found, expected = np.asarray(found), np.asarray(expected)
    if expected.dtype.kind != "f":
        np.testing.assert_array_equal(found, expected, err_msg=name)
        return
    assert found.dtype == expected.dtype, name
    stored = max(share, np.finfo(expected.dtype).eps)  # float64 may be kept as float32
    largest = np.max(np.abs(expected[np.isfinite(expected)]), initial=0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=stored * largest, err_msg=name)


def differing(found, expected, share):
    """Names of variables that two shards do not have alike."""
    names = set(found.variables) ^ set(expected.variables)
    for name in found.variables.keys() & expected.variables.keys():
        try:
            assert_alike(found[name], expected[name], share)
        except AssertionError:
            names.add(name)
    return names


def assert_same_runs(found, expected, share):
    """Shards have the same coordinates and attributes, and data that are alike."""
    assert found.coords.to_dataset().identical(expected.coords.to_dataset())
    xr.testing.assert_identical(found.drop_vars(found.variables), expected.drop_vars(expected.variables))
    assert set(found.data_vars) == set(expected.data_vars)
    for name in expected.data_vars:
        assert found[name].attrs == expected[name].attrs, name
        assert_alike(found[name], expected[name], share, name)
