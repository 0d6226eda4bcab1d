"""Claims about the covariance bound hold or fail as the order and the size of risks beside it say."""

import numpy as np
import pytest
import xarray as xr

from toy.made_up_runs import checks_of

INSTANCES = 400


def made(follows):
    """A curve whose risks are a multiple of one of both bounds, but for a little noise."""
    rng = np.random.default_rng(0)
    bounds = {name: 10 ** rng.normal(size=INSTANCES) for name in ("top_unit", "benign_overfitting")}
    values = bounds | {
        "bottom_unit": np.zeros(INSTANCES),
        "risk": 0.1 * bounds[follows] * 10 ** rng.normal(0, 0.1, INSTANCES),
    }
    labels = {"half": np.repeat([0, 1], INSTANCES // 2), "alignment": np.tile(["top", "bottom"], INSTANCES // 2)}
    return xr.Dataset({name: ("instance", value) for name, value in values.items()} | {"c": 2.0},
                      {name: ("instance", value) for name, value in labels.items()})  # fmt: skip


@pytest.mark.parametrize(("follows", "verdict"), [("top_unit", "holds"), ("benign_overfitting", "fails")])
def test_claims_hold_of_risks_that_follow_the_bound(follows, verdict):
    checked = checks_of("covariance_bound", {"curve": made(follows)})
    assert set(checked["verdict"].values) == {verdict}
