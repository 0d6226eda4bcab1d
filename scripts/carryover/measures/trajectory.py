"""What was recorded along training: loss, risk and more; empty for networks that were solved without it."""

import numpy as np

SELECTS = True


def measure(data, p):
    """Time and every curve, of shape (run, checkpoint), NaN after a run's last checkpoint."""
    curves = data[["time", *(name for name in data.data_vars if name.endswith("_curve"))]]
    curves = curves.assign_coords(checkpoint=np.arange(curves.sizes["checkpoint"]))
    curves["checkpoint"].attrs = {"long_name": "number of the checkpoint", "units": "1"}
    return curves
