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
# The largest relative error of one rounding, by the numbers that were trained in.
_UNIT = {"float32": 2.0**-24, "float64": 2.0**-53}


def promised(modules):
    """What a job promises that names these modules, the plug-ins that it has loaded among them."""
    return weakest(["rounding", *(getattr(sys.modules.get(name), "PORTABLE", "rounding") for name in modules)])


def weakest(levels):
    """What is promised of something made of such results."""
    return max(levels, key=LEVELS.index)


def largest_difference(data, expected, precision="float64"):
    """How two datasets differ beyond rounding, in words, or by what share of the largest number they differ at most.

    They agree to rounding where they have the same variables, types, dimensions, attributes, texts, whole numbers and
    missing values, and every other number up to half of the digits of `precision` (1.5e-8 of the largest of its
    variable in float64, 3.5e-4 in float32), or up to one rounding of a number of order one: what is fitted has errors
    of that size and no digits that could agree. Returns (share, where), or (None, the sentence).
    """
    import numpy as np

    names = set(data.variables) ^ set(expected.variables)
    if names or data.sizes != expected.sizes:
        return None, f"other variables or sizes: {', '.join(sorted(names)) or dict(data.sizes)}"
    parts = {
        "the dataset": (data, expected),
        **{name: (data[name], expected[name]) for name in expected.variables},
    }
    for part, (now, then) in parts.items():
        if repr(now.attrs) != repr(then.attrs):
            return None, f"{part} has other attributes"
    unit, worst = _UNIT.get(precision, _UNIT["float32"]), (0.0, "")
    for name in expected.variables:
        now, then = data[name].values, expected[name].values
        if now.dtype != then.dtype or data[name].dims != expected[name].dims:
            return None, f"{name} is of another type or other dimensions"
        if then.dtype.kind != "f":
            if not np.array_equal(now, then):
                return None, f"{name} is another one in {np.mean(now != then):.0%} of its values"
            continue
        finite = np.isfinite(then)
        if not np.array_equal(np.isfinite(now), finite) or not np.array_equal(now[~finite], then[~finite], True):
            return None, f"{name} has missing values in other places"
        now, then = now[finite].astype(float), then[finite].astype(float)
        largest, apart = np.max(np.abs(then), initial=0.0), np.max(np.abs(now - then), initial=0.0)
        share = apart / largest if largest else 0.0
        if apart > max(np.sqrt(2 * unit) * largest, unit):
            return None, f"{name} differs by {share:.1e} of its largest number"
        if apart > unit:
            worst = max(worst, (share, name))
    return worst
