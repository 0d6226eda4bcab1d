"""How far the solutions of two solvers are from each other."""

import numpy as np
import xarray as xr

from carryover.analysis.run_tables import match_runs
from carryover.runs import coordinates


def distances(coefficients):
    """Relative distances ‖β − β_exact‖ / ‖β_exact‖ of the runs that were not solved exactly.

    `coefficients` is a dataset of `coefficients` (run, input), the result one of `distance` (run,) of these runs.
    """
    rows = xr.Dataset({"row": ("run", np.arange(coefficients.sizes["run"]))}, coordinates(coefficients))
    both = pair_with_reference(rows, "exact").sort_values("solver", kind="stable")
    solutions, limits = (coefficients["coefficients"].values[both[row]] for row in ("row", "row_other"))
    norm = np.linalg.norm
    relative = [norm(beta - limit) / norm(limit) for beta, limit in zip(solutions, limits, strict=True)]
    return xr.Dataset({"distance": ("run", np.array(relative))}, coordinates(coefficients.isel(run=both["row"])))


def distances_at_convergence(coefficients, risk):
    """`distances` of the runs that have converged, as the dataset of risks of the same runs says."""
    table = match_runs(distances(coefficients), risk[["converged"]])
    return table[table["converged_other"] == 1]


def relative_differences(risk, reference, *ignored):
    """Runs paired with the reference, with the `difference` |r / r_reference − 1| of their risks."""
    both = pair_with_reference(risk, reference, *ignored)
    return both.assign(difference=(both["risk_final"] / both["risk_final_other"] - 1).abs())


def pair_with_reference(data, reference, *ignored):
    """The runs of all solvers but the reference, each with the reference's at the same coordinates."""
    runs, others = (data.isel(run=chosen) for chosen in (data["solver"] != reference, data["solver"] == reference))
    return match_runs(runs, others, ("solver", *ignored), f"run of the solver {reference} to compare with")
