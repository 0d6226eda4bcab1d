"""Margins over squared scales, and claims on longer training, follow the trajectories that they are given."""

import numpy as np
import pytest
import xarray as xr

from carryover.analysis.margins import at_margins, margins
from toy.made_up_runs import SEEDS, checks_of, dataset, size


def test_a_margin_is_known_from_the_fit_on_and_does_not_fall():
    (found,) = margins([[1.0, 0.3, 0.1, 0.2, 0.05, np.nan]], fitted=0.3)
    assert np.isnan(found).tolist() == [True, False, False, False, False, True]
    assert found[3] == found[2] < found[4]


def test_a_curve_is_read_at_margins_that_were_reached():
    reached = np.array(
        [[0.5, 1.0, 10.0, 100.0, np.nan], [-1.0, 2.0, 20.0, 40.0, 80.0], [-3.0, -2.0, -1.0, -1.0, np.nan]]
    )
    curves = {"loss_curve": np.log1p(np.exp(-reached)), "norm_curve": 3 * np.abs(reached) ** 0.7}
    data = xr.Dataset({name: (("run", "checkpoint"), curve) for name, curve in curves.items()})
    data = data.assign_coords(seed=("run", [4, 5, 6]), checkpoint=np.arange(5))
    found = at_margins(data, "norm_curve", [1.0, 30.0, 90.0])
    powers = 3 * np.array([1.0, 30.0, 90.0]) ** 0.7
    np.testing.assert_allclose(found[0], powers, rtol=1e-6)
    np.testing.assert_allclose(found[1], [np.nan, powers[1], np.nan], rtol=1e-6)
    assert np.isnan(found[2]).all()  # never fitted
    assert (found["seed"].values.tolist(), found["margin"].values.tolist()) == ([4, 5, 6], [1.0, 30.0, 90.0])


TIMES = np.arange(6.0)
MARGINS = np.array([0.1, 2.0, 4.0, 6.0, 8.0, np.nan])  # the last checkpoint was not reached
LONG = np.geomspace(1, 1000, 13)


def from_scales(effect):
    """Features that fall with the margin over squared scale by `effect`."""

    def values(seed, initial_scale, **_):
        features = 50 * 10.0 ** (-0.01 * size(effect, seed) * MARGINS / initial_scale**2)
        curves = {"time": TIMES, "loss_curve": np.log1p(np.exp(-MARGINS)), "effective_features_curve": features}
        return {name: np.where(np.isnan(MARGINS), np.nan, curve) for name, curve in curves.items()}

    one = dataset(values, {"initial_scale": [0.5, 0.7, 1.0], "loss_function": ["cross_entropy"]}, along="checkpoint")
    return {"diagonal": one, "relu": one}


def endless(effect):
    """Norms grow with the margin γ; ratios between runs change by a power of γ, which the effect decides."""

    def values(seed, protocol, initial_scale, **_):
        change = 0.05 * size(effect, seed)  # decades a decade of margin
        decades = np.log10(LONG)
        norm, group, error = decades, decades + 0.3, np.full(len(LONG), -0.5)
        if protocol == "finetuning":
            norm = norm + 0.4 - change * decades
            # At the late margin and without effect the gap is a tenth of a decade; the effect makes it smaller.
            error = error - 0.1 - change * (1 - decades)
        if protocol == "multi_task":
            error = error - change
            group = group + (0.4 - change * decades) * (initial_scale == 1)
        curves = {"l1_norm_curve": norm, "group_norm_curve": group, "risk_curve": error}
        return {name: 10**curve for name, curve in curves.items()} | {"loss_curve": np.log1p(np.exp(-LONG))}

    both = {"protocol": ["single_task", "multi_task"], "initial_scale": [0.1, 1.0]}
    tuned = {"protocol": ["finetuning"], "initial_scale": [np.nan]}
    return {"trajectory": dataset(values, both, tuned, along="checkpoint")}


@pytest.mark.parametrize(("effect", "verdict"), [(1.0, "holds"), (-1.0, "fails"), (0.0, "undecided")])
@pytest.mark.parametrize(("group", "made"), [("cross_entropy", from_scales), ("endless_training", endless)])
def test_every_claim_follows_its_effect(group, made, effect, verdict):
    checked = checks_of(group, made(effect))
    found = checked["verdict"].to_series().to_dict()
    # However features change, they are the same at the same margin over squared scale; finetuned networks err less.
    always = {"diagonal_alike": "holds", "relu_alike": "fails"} if group == "cross_entropy" else {"alike": "holds"}
    assert found == dict.fromkeys(found, verdict) | always
    assert (checked["seeds"] == len(SEEDS)).all()


def test_statistics_are_decades_between_the_fit_and_the_end():
    found = checks_of("cross_entropy", from_scales(1.0)).to_dataframe()["statistic"]
    assert found["diagonal_longer"] == pytest.approx(0.01 * (8 - 2) / 0.5**2)
    assert found["diagonal_smaller"] == pytest.approx(0.01 * (8 / 0.5**2 - 8))
    assert found["diagonal_alike"] == pytest.approx(0.01 * (8 / 0.5**2 - 8) / 2)
