"""Made-up runs of ReLU networks with effects that are that large on average."""

import numpy as np

from toy import made_up_runs

CLUSTERS = np.arange(1, 13)


def dataset(values, *grids):
    """Made-up runs, whose values by number of clusters have a coordinate."""
    return made_up_runs.dataset(values, *grids, along="clusters").assign_coords(clusters=CLUSTERS)


def risks(log_risk, *grids, unfinished=lambda **point: False):
    """Risks of trained networks, or of `unfinished` ones, whose loss is half of their risk."""

    def values(**point):
        risk, stopped = 10 ** log_risk(**point), unfinished(**point)
        return {"risk_final": risk, "loss": risk / 2 if stopped else risk / 20, "converged": 0}

    return {"risk": dataset(values, *grids)}


def per_seed(effect, spread=0.5):
    """An effect that is that large on average, by seed."""
    return lambda seed: effect + spread * (-1) ** seed
