"""The coefficients of the main readout themselves, to compare solvers with each other."""

from carryover.config.parameters import NoParameters

FAMILIES = ("deep_linear", "diagonal")
SELECTS = True

Parameters = NoParameters


def measure(data, p):
    """Coefficients and teacher, (run, input)."""
    return data[["coefficients", "teacher"]].isel(output=0, drop=True)
