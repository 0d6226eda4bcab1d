"""What figures read off trajectories on cross-entropy: medians over runs at common margins."""

import numpy as np
import pytest
import xarray as xr

from toy.drawn import drawn

TIME = np.geomspace(0.1, 1000, 40)
SCALES = (2.0, 1.0, 0.5)


def law(margin, scale, seed):
    return 50 / (1 + margin / scale**2) + seed


@pytest.fixture
def runs():
    """Networks whose features follow from margin over squared scale, after a start in which they do not."""
    scale, seed = (values.ravel() for values in np.meshgrid(SCALES, [0, 1, 2], indexing="ij"))
    margin = np.log1p(TIME) + 0 * scale[:, None]
    features = np.where(margin > 1, law(margin, scale[:, None], seed[:, None]), 70)
    curves = {"time": TIME + 0 * margin, "loss_curve": np.log1p(np.exp(-margin)), "effective_features_curve": features,
              "risk_curve": features / 100}  # fmt: skip
    return xr.Dataset(
        {name: (("run", "checkpoint"), values) for name, values in curves.items()},
        coords={"initial_scale": ("run", scale), "seed": ("run", seed)},
    )


def test_curves_against_margin_over_squared_scale_lie_on_one_another(runs):
    ax = drawn("cross_entropy", {"diagonal": runs, "relu": runs}).axes[1]
    curves = {line.get_label(): line.get_data() for line in ax.get_lines()}
    assert len(curves) == 3
    first = np.log1p(TIME)[np.log1p(np.exp(-np.log1p(TIME))) <= 0.3][0]
    for scale in SCALES:
        ratio, features = curves[f"initial scale {scale:g}"]
        np.testing.assert_allclose(features, law(ratio, 1, 1), rtol=0.01)
        assert ratio[0] * scale**2 == pytest.approx(first)  # from a loss of .3 on
