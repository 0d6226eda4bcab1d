"""How far trained networks end from the exact limit, and descent from the flow."""

import numpy as np
import xarray as xr

from carryover.errors import UserError
from carryover.runs import coordinates


def beside(data, reference, variables, but=("solver",)):
    """The runs of all solvers but one, the reference, each with the reference's run at the same coordinates.

    Parameters
    ----------
    data : xarray.Dataset
        Runs of several solvers.
    reference : str
        A solver.
    variables : list of str
        Variables (run,).
    but : tuple of str
        Coordinates in which the two runs may differ.

    Returns
    -------
    pandas.DataFrame
        Columns for coordinates and variables, and `<variable>_<reference>`.

    Raises
    ------
    UserError
        If a run has no run of the reference.
    """
    runs = data[variables].to_dataframe().reset_index(drop=True)
    keys = [name for name in coordinates(data) if name not in but]
    own = runs["solver"] == reference
    both = runs[~own].merge(
        runs.loc[own, [*keys, *variables]], on=keys, how="left", suffixes=("", f"_{reference}"), indicator="found"
    )
    if (lone := both["found"] == "left_only").any():
        raise UserError(
            f"no run with the solver {reference} has {both.loc[lone, keys].iloc[0].to_dict()}, as another has."
        )
    return both.drop(columns="found")


def distances(coefficients):
    """Relative distances ‖β − β_exact‖ / ‖β_exact‖ of the runs that were not solved exactly.

    Parameters
    ----------
    coefficients : xarray.Dataset
        `coefficients` (run, input).

    Returns
    -------
    xarray.Dataset
        `distance` by run, with the coordinates of the runs.
    """
    rows = xr.Dataset({"row": ("run", np.arange(coefficients.sizes["run"]))}, coordinates(coefficients))
    both = beside(rows, "exact", ["row"]).sort_values("solver", kind="stable")
    found = coefficients[["coefficients"]].isel(run=both["row"])
    pairs = zip(found["coefficients"].values, coefficients["coefficients"].values[both["row_exact"]], strict=True)
    relative = [np.linalg.norm(beta - limit) / np.linalg.norm(limit) for beta, limit in pairs]
    return found.drop_vars("coefficients").assign(distance=("run", np.array(relative)))


def converged_distances(coefficients, risk):
    """`distances` of the runs that have converged, as the dataset of risks of the same runs says."""
    table, risk = distances(coefficients).to_dataframe(), risk.to_dataframe()
    keys = [name for name in table if name != "distance"]
    table = table.merge(risk[[*keys, "converged"]], on=keys)
    return table[table["converged"] == 1]


def descent_and_flow(risk):
    """Runs of descent with the `difference` |r / r_flow − 1| of their risk from that of the flow, a data frame.

    Runs that did not reach their learning rate or their tolerance are included.
    """
    variables = ["risk_final", "evaluations", "learning_rate"]
    both = beside(risk, "flow", variables, but=("solver", "learning_rate"))
    return both.assign(difference=(both["risk_final"] / both["risk_final_flow"] - 1).abs())
