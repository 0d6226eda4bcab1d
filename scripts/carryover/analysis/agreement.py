"""How far simulated networks end from the exact limit, and descent from the flow."""

import numpy as np
import xarray as xr

from carryover.errors import UserError
from carryover.runs import coordinates


def distances(coefficients):
    """‖β − β_exact‖ / ‖β_exact‖ of every run that was not solved exactly, with the coordinates of the run.

    The exact run is the one that has all other coordinates in common; UserError where there is none.
    """
    names = list(coordinates(coefficients))
    matched = [name for name in names if name != "solver"]
    exact = {_key(coefficients, matched, r): beta for r, beta in _rows(coefficients, "exact")}
    others = [solver for solver in np.unique(coefficients["solver"].values) if solver != "exact"]
    rows = [(r, beta, _limit(exact, coefficients, matched, r)) for s in others for r, beta in _rows(coefficients, s)]
    runs = [r for r, *_ in rows]
    relative = [np.linalg.norm(beta - limit) / np.linalg.norm(limit) for _, beta, limit in rows]
    kept = {name: ("run", coefficients[name].values[runs], coefficients[name].attrs) for name in names}
    return xr.Dataset({"distance": ("run", np.array(relative))}, coords=kept)


def of_converged(coefficients, risk):
    """DataFrame of `distances` of the runs that have converged, as the dataset of risks of the same runs says."""
    table, risk = distances(coefficients).to_dataframe(), risk.to_dataframe()
    keys = [name for name in table if name != "distance"]
    table = table.merge(risk[[*keys, "converged"]], on=keys)
    return table[table["converged"] == 1]


def risks_beside_flow(risk):
    """DataFrame of the runs of descent, with the `difference` |r / r_flow − 1| of their risk to that of the flow.

    The run of the flow is the one that has all other coordinates in common; UserError where there is none. Runs that
    did not come to the learning rate that was asked for, or not to their tolerance, are there like all others.
    """
    table = risk[["risk_final", "evaluations", "learning_rate"]].to_dataframe().reset_index(drop=True)
    keys = [name for name in coordinates(risk) if name not in ("solver", "learning_rate")]
    flow = table[table["solver"] == "flow"][[*keys, "risk_final", "evaluations"]]
    descent = table[table["solver"] == "descent"]
    both = descent.merge(flow, on=keys, how="left", suffixes=("", "_flow"))
    if both["risk_final_flow"].isna().any():
        lone = both[both["risk_final_flow"].isna()].iloc[0]
        where = ", ".join(f"{name} {lone[name]}" for name in keys)
        raise UserError(f"no run with the solver flow has {where}, as one with descent does.")
    return both.assign(difference=(both["risk_final"] / both["risk_final_flow"] - 1).abs())


def _rows(data, solver):
    for run in np.flatnonzero(data["solver"].values == solver):
        yield int(run), data["coefficients"].values[run]


def _limit(exact, data, names, run):
    if (key := _key(data, names, run)) not in exact:
        where = ", ".join(f"{name} {value}" for name, value in zip(names, key, strict=True))
        raise UserError(f"no run with the solver exact has {where}, as a simulated one does.")
    return exact[key]


def _key(data, names, run):
    return tuple(str(data[name].values[run]) for name in names)  # as text, in which NaN is NaN
