"""How far trained networks end from the exact limit, and descent from the flow."""

import numpy as np
import pandas as pd
import xarray as xr

from carryover.errors import UserError
from carryover.runs import coordinates


def distances(coefficients):
    """Relative distances ‖β − β_exact‖ / ‖β_exact‖ of the runs that were not solved exactly.

    Parameters
    ----------
    coefficients : xarray.Dataset
        `coefficients` (run, input). The exact run of a run has all coordinates but the solver in common with it.

    Returns
    -------
    xarray.Dataset
        `distance` by run, with the coordinates of the runs.

    Raises
    ------
    UserError
        If a run has no exact run.
    """
    names = list(coordinates(coefficients))
    frame = pd.DataFrame({name: coefficients[name].values for name in names})
    frame["row"] = np.arange(len(frame))
    keys = [name for name in names if name != "solver"]
    exact = frame[frame["solver"] == "exact"][[*keys, "row"]]
    trained = frame[frame["solver"] != "exact"].sort_values("solver", kind="stable")
    both = _matched(trained, exact, keys, "exact", "a simulated one")
    rows, limits = (coefficients["coefficients"].values[both[name]] for name in ("row", "row_exact"))
    relative = [np.linalg.norm(beta - limit) / np.linalg.norm(limit) for beta, limit in zip(rows, limits, strict=True)]
    coords = {name: ("run", coefficients[name].values[both["row"]], coefficients[name].attrs) for name in names}
    return xr.Dataset({"distance": ("run", np.array(relative))}, coords=coords)


def converged_distances(coefficients, risk):
    """`distances` of the runs that have converged, as the dataset of risks of the same runs says."""
    table, risk = distances(coefficients).to_dataframe(), risk.to_dataframe()
    keys = [name for name in table if name != "distance"]
    table = table.merge(risk[[*keys, "converged"]], on=keys)
    return table[table["converged"] == 1]


def descent_and_flow(risk):
    """Runs of descent with the `difference` |r / r_flow − 1| of their risk from that of the flow, a data frame.

    The flow's run has all coordinates but solver and learning rate in common; UserError if there is none. Runs that
    did not reach their learning rate or their tolerance are included.
    """
    table = risk[["risk_final", "evaluations", "learning_rate"]].to_dataframe().reset_index(drop=True)
    keys = [name for name in coordinates(risk) if name not in ("solver", "learning_rate")]
    flow = table[table["solver"] == "flow"][[*keys, "risk_final", "evaluations"]]
    both = _matched(table[table["solver"] == "descent"], flow, keys, "flow", "one with descent")
    return both.assign(difference=(both["risk_final"] / both["risk_final_flow"] - 1).abs())


def _matched(runs, others, keys, solver, what):
    """Runs with the columns of those of a solver at the same coordinates, suffixed by its name."""
    both = runs.merge(others.assign(found=True), on=keys, how="left", suffixes=("", f"_{solver}"))
    if (lone := both["found"].isna()).any():
        where = ", ".join(f"{name} {both.loc[lone, name].iloc[0]}" for name in keys)
        raise UserError(f"no run with the solver {solver} has {where}, as {what} does.")
    return both.drop(columns="found")
