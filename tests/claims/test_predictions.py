"""Predicted gains against the formulas that they are made of, and where no such thing is predicted."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from carryover.claims.comparisons import atlas
from carryover.theory import transfer
from toy.made_up_runs import dataset


def rows(**columns):
    return pd.DataFrame(columns)


def linear(angle, samples, noise=0.2, dimension=200, depth=2, norm=1.0):
    return rows(angle=[angle], samples=[samples], gamma=[samples / dimension], noise=[noise], depth=[depth],
                target_norm=[norm])  # fmt: skip


@pytest.mark.parametrize("noise", [0.0, 0.2, 1.0])
def test_finetuning_of_deep_linear_networks_turns_at_its_boundary(noise):
    for gamma in (0.1, 0.5, 0.9):
        edge = transfer.finetune_boundary(gamma, noise, 2) / np.pi
        near, far = (atlas.linear_transfer(linear(edge + step, 200 * gamma, noise), "finetuning", 1e-8).item()
                     for step in (-1e-3, 1e-3))  # fmt: skip
        assert near > 0 > far
    assert atlas.linear_transfer(linear(0.1, 300, noise), "finetuning", 1e-8) == 0


def test_linear_transfer_turns_where_eq_8_meets_eq_10():
    angle = 0.25
    found = [atlas.linear_transfer(linear(angle, n), "linear_transfer", 1e-8).item() for n in (20, 150, 200, 300)]
    for value, n in zip(found, (20, 150, None, 300), strict=True):
        if n:
            risks = transfer.scratch_risk(n / 200, 0.2), transfer.linear_transfer_risk(np.pi * angle, 0.2, n)
            assert value == pytest.approx(np.log10(risks[0] / risks[1]))
    assert found[2] == np.inf  # at γ = 1
    assert atlas.linear_transfer(linear(0.25, 200), "finetuning", 1e-8) == 0  # of two infinite risks
    assert atlas.linear_transfer(linear(0.25, 2), "linear_transfer", 1e-8) == -np.inf


def test_the_feature_of_a_linear_teacher_is_aligned_with_its_opposite_too_whose_data_are_farthest():
    frame = rows(angle=[0.0, 0.25, 0.5, 1.0, 0.25], noise=[0.2] * 5, target_norm=[1.0] * 4 + [2.0],
                 samples=[50] * 5)  # fmt: skip
    found = atlas.of_linear_teachers(frame)
    np.testing.assert_allclose(found["target_alignment"], [1, 0.5, 0, 1, 0.5], atol=1e-12)
    distances = found["wasserstein"]
    assert distances[0] == pytest.approx(0)
    assert 0 < distances[1] < distances[2] < distances[3] < np.sqrt(2 / np.pi) * 2 * 1.1  # E|(β_s − β_t)·x|, sampled
    assert distances[4] > distances[1]


def test_a_readout_of_the_source_s_direction_explains_what_samples_left_out_say():
    """Beside regressions on one feature, thousands of them."""
    frame = rows(angle=[0.25], noise=[0.5], target_norm=[2.0], samples=[12])
    rng, target = np.random.default_rng(0), 2 * np.array([np.cos(np.pi / 4), np.sin(np.pi / 4)])
    x = rng.standard_normal((20000, 12, 2))
    y = x @ target + 0.5 * rng.standard_normal(x.shape[:2])
    feature, others = x[..., 0], slice(1, None)
    readout = (feature * y)[:, others].sum(1) / (feature**2)[:, others].sum(1)
    expected = 1 - ((y[:, 0] - readout * feature[:, 0]) ** 2).mean() / (y**2).mean()
    assert atlas.of_linear_teachers(frame)["probe_r_squared"].item() == pytest.approx(expected, abs=0.03)


def test_a_curve_is_read_at_the_place_of_each_run():
    curve = xr.Dataset({"single_task": (("samples", "overlap"), [[1.0, 1.0], [0.1, 0.1]]),
                        "finetuning": (("samples", "overlap"), [[2.0, 0.5], [1e-3, 1e-12]])},
                       {"samples": [4, 8], "overlap": [0.0, 1.0]})  # fmt: skip
    frame = rows(samples=[8, 4, 8], overlap=[1.0, 0.0, 0.0])
    np.testing.assert_allclose(atlas.curve(frame, curve, "finetuning", 1e-4), [3, np.log10(0.5), 2])
    assert np.isnan(atlas.curve(frame, curve, "finetuning_probe", 1e-4)).all()


def test_ratios_are_of_the_run_from_scratch_or_of_another_variable_of_the_same_run():
    def values(seed, protocol, samples, **_):
        return {"penalty": (2.0 if protocol == "single_task" else 1.0) * samples + seed, "new": 100.0}

    source = dataset(values, {"protocol": ["single_task", "finetuning"], "samples": [10, 20], "solver": ["exact"]})
    frame = rows(seed=[3, 0], samples=[20, 10], protocol=["finetuning"] * 2, solver=["exact"] * 2)
    found = atlas.ratio(frame, source, "finetuning", "penalty")
    np.testing.assert_allclose(found, np.log10([43 / 23, 20 / 10]))
    against = atlas.ratio(frame, source, "finetuning", "penalty", "new")
    np.testing.assert_allclose(against, np.log10([100 / 23, 100 / 10]))
    assert np.isnan(atlas.ratio(frame, source, "probe", "penalty")).all()
    with pytest.raises(KeyError, match="bound"):
        atlas.ratio(frame, source, "finetuning", "bound")


def test_the_power_law_is_held_against_what_features_leave_out():
    """Shares of the target's variance, which is 2; the law is exact, R = 4 n^−1.5."""

    def risks(seed, protocol, samples, **_):
        return {"risk_final": 2 * 4.0 * samples**-1.5, "target_variance": 2.0}

    grid = {"teacher_scale": [1.0], "samples": [64, 128, 256]}
    risk = dataset(risks, {"protocol": ["single_task"], **grid})
    outside = dataset(lambda seed, ablated, **_: {"least_risk": 0.01 * (1 + seed) * ablated},
                      {"teacher_scale": [1.0], "ablated": [0.1, 0.5]})  # fmt: skip
    frame = rows(seed=[0, 2], ablated=[0.1, 0.5], samples=[16, 256], teacher_scale=[1.0, 1.0])
    found = atlas.power_law_against_floor(frame, outside, risk)
    np.testing.assert_allclose(found, np.log10([4 * 16**-1.5 / 0.001, 4 * 256**-1.5 / 0.015]))
