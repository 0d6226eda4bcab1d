"""The coefficients of the main readout themselves, to compare solvers with each other."""

SELECTS = True


def measure(data, p):
    """Coefficients and teacher, (run, input)."""
    return data[["coefficients", "teacher"]].isel(output=0, drop=True)
