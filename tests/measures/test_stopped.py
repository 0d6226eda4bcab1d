"""Risks of training that stops at a larger loss, where loss and risk are powers of time."""

import numpy as np
import xarray as xr

from carryover.measures import stopped


def test_stopping_losses_between_checkpoints_give_the_smallest_risk_until_then():
    time = np.geomspace(1, 1e6, 40)
    loss = [time**-1, time**-1, np.full(40, np.nan)]
    risk = [time**-0.5, np.maximum(time / 1e4, 1e4 / time), np.full(40, np.nan)]  # the second is 1 at 1e4, a checkpoint
    data = xr.Dataset({"loss_curve": (("run", "checkpoint"), loss), "risk_curve": (("run", "checkpoint"), risk)})
    found = stopped.stopped(data, None)["risk_stopped"]
    losses = found["stopping_loss"].values
    reached = np.maximum(losses, 1e-6)  # the end of training
    np.testing.assert_allclose(found[0], reached**0.5, rtol=1e-5)
    early, late = losses > 1.5e-4, losses < 0.5e-4
    np.testing.assert_allclose(found[1][early], 1e4 * reached[early], rtol=1e-5)
    np.testing.assert_allclose(found[1][late], 1, rtol=1e-5)
    assert np.isnan(found[2]).all()
