"""How far trained networks end from the exact limit, and descent from the flow."""

import numpy as np
import pandas as pd

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
    runs = pd.DataFrame({name: values.values for name, values in coordinates(coefficients).items()})
    keys = [name for name in runs if name != "solver"]
    runs["row"] = np.arange(len(runs))
    trained = runs[runs["solver"] != "exact"].sort_values("solver", kind="stable")
    both = _matched(trained, runs[runs["solver"] == "exact"][[*keys, "row"]], keys, "exact")
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

    The flow's run has all coordinates but solver and learning rate in common; UserError if there is none. Runs that
    did not reach their learning rate or their tolerance are included.
    """
    table = risk[["risk_final", "evaluations", "learning_rate"]].to_dataframe().reset_index(drop=True)
    keys = [name for name in coordinates(risk) if name not in ("solver", "learning_rate")]
    flow = table[table["solver"] == "flow"][[*keys, "risk_final", "evaluations"]]
    both = _matched(table[table["solver"] == "descent"], flow, keys, "flow")
    return both.assign(difference=(both["risk_final"] / both["risk_final_flow"] - 1).abs())


def _matched(runs, others, keys, solver):
    """Runs with the columns of those of a solver at the same coordinates, suffixed by its name."""
    both = runs.merge(others.assign(found=True), on=keys, how="left", suffixes=("", f"_{solver}"))
    if (lone := both["found"].isna()).any():
        raise UserError(
            f"no run with the solver {solver} has {both.loc[lone, keys].iloc[0].to_dict()}, as another has."
        )
    return both.drop(columns="found")
