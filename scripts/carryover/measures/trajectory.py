"""Loss and risk along training; empty for networks that were solved without it."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, kw_only=True)
class Parameters:
    pass


def measure(data, p):
    """Curves of shape (run, checkpoint), NaN after a run's last checkpoint."""
    curves = data[["time", "loss_curve", "risk_curve"]]
    curves = curves.assign_coords(checkpoint=np.arange(curves.sizes["checkpoint"]))
    curves["checkpoint"].attrs = {"long_name": "number of the checkpoint", "units": "1"}
    return curves
