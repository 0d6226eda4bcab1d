"""What a result promises where its job runs on another processor, with other libraries or numbers of threads.

    bits            the same bytes
    rounding        the same numbers but for their last digits: libraries add in another order there
    distribution    other numbers from the same distribution: training enlarges a rounding until it is as good as
                    another draw, as steps near the largest stable one and normalisation over few values do

In one place a job gives the same bits again, whatever it promises elsewhere. A solver, measure or other plug-in
promises what its `PORTABLE` says, and rounding where it says nothing. What is made of results promises no more.
"""

import sys

LEVELS = ("bits", "rounding", "distribution")
MEANING = "what of the data is the same on another processor: bits, all to rounding, or the distribution alone"


def promised(modules):
    """What a job promises that names these modules, the plug-ins that it has loaded among them."""
    return weakest(["rounding", *(getattr(sys.modules.get(name), "PORTABLE", "rounding") for name in modules)])


def weakest(levels):
    """What is promised of something made of such results."""
    return max(levels, key=LEVELS.index)


def difference(data, expected, precision="float64"):
    """How a dataset differs from the `expected` one beyond rounding, in words; empty where it does not.

    They agree to rounding where all but floating-point numbers is identical, and these differ by at most half of the
    digits of `precision` (1.5e-8 of the largest of its variable in float64, 3.5e-4 in float32), or by one rounding of
    a number of order one: what is fitted has errors of that size and no digits that could agree.
    """
    import numpy as np
    import xarray as xr

    unit = np.finfo(precision if precision == "float64" else "float32").eps / 2
    numbers = [name for name, variable in expected.variables.items() if variable.dtype.kind == "f"]
    try:
        xr.testing.assert_identical(data.drop_vars(numbers, errors="ignore"), expected.drop_vars(numbers))
        for name in numbers:
            largest = np.max(np.abs(expected[name].values), initial=0.0, where=np.isfinite(expected[name].values))
            allowed = max(np.sqrt(2 * unit) * float(largest), unit)
            xr.testing.assert_allclose(data[name].variable, expected[name].variable, rtol=0, atol=allowed)
    except (AssertionError, KeyError) as error:
        return " ".join(str(error).split())[:200]
    return ""
