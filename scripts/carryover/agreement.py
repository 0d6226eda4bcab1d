"""How far simulated networks end from the exact limit."""

import numpy as np
import xarray as xr

MATCHED = ("protocol", "samples", "main_features", "overlap", "rescale", "seed")


def distances(coefficients):
    """‖β − β_exact‖ / ‖β_exact‖ of every run that was not solved exactly, with the coordinates of the run."""
    exact = {_key(coefficients, r): beta for r, beta in _rows(coefficients, "exact")}
    others = [solver for solver in np.unique(coefficients["solver"].values) if solver != "exact"]
    rows = [(r, beta, exact[_key(coefficients, r)]) for s in others for r, beta in _rows(coefficients, s)]
    runs = [r for r, *_ in rows]
    relative = [np.linalg.norm(beta - limit) / np.linalg.norm(limit) for _, beta, limit in rows]
    kept = {name: ("run", coefficients[name].values[runs]) for name in (*MATCHED, "solver")}
    return xr.Dataset({"distance": ("run", np.array(relative))}, coords=kept)


def _rows(data, solver):
    for run in np.flatnonzero(data["solver"].values == solver):
        yield int(run), data["coefficients"].values[run]


def _key(data, run):
    return tuple(data[name].values[run].item() for name in MATCHED)
