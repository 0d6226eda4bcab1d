"""A map pairs every transferred run with the one from scratch beside it; predictions are those of their formulas."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from carryover.claims.comparisons import atlas
from carryover.theory import transfer
from toy.atlas_runs import GRID, log_gain, mapped, runs
from toy.made_up_runs import dataset


def frame(data):
    return data.to_dataframe().set_index(["protocol", "row", "samples", "seed"]).sort_index()


def test_gains_are_of_runs_on_the_same_samples_of_the_same_target():
    made = mapped()
    found = frame(made)
    assert len(found) == 3 * 3 * 6
    for (_, row, samples, seed), one in found.iterrows():
        expected = log_gain(GRID["overlap"][row], samples, seed, 0.01)
        assert one["gain"] == pytest.approx(expected, abs=1e-9)
        assert one["predicted"] == pytest.approx(2 * log_gain(GRID["overlap"][row], samples))
        assert one["similarity"] == GRID["overlap"][row]
        assert one["samples_per_parameter"] == samples / 10
    assert all(variable.attrs["long_name"] and variable.attrs["units"] for variable in made.variables.values())
    assert (made.attrs["map_family"], made.attrs["map_setting"]) == ("Toy", "")


def test_a_run_without_one_from_scratch_has_no_gain():
    risk = runs()
    gone = (risk["protocol"] == "single_task") & (risk["samples"] == 20) & (risk["seed"] == 3)
    found = frame(mapped(risk.isel(run=~gone)))["gain"]
    assert found.isna().sum() == 3
    assert found[found.isna()].index.droplevel(["protocol", "row"]).unique().tolist() == [(20, 3)]


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [("angle", [0.0, 1 / 3, 0.5], [0, 0.5, 1]), ("chord", [0.0, 1.0, 2.0], [-1, 0.5, 1]),
     ("lost", [0.0, 0.25, 1.0], [0, 0.75, 1]), ("value", ["0 0.5", "0.9 0.9", "1 1"], [0.25, 0.9, 1])],
)  # fmt: skip
def test_rows_stand_in_the_order_of_similarity(kind, values, expected):
    risk = runs()
    places = np.searchsorted(GRID["overlap"], risk["overlap"].values)
    risk = risk.assign_coords(how=("run", np.array(values)[places]))
    found = mapped(risk, similarity="how", similarity_of=kind).to_dataframe().groupby("row")["similarity"]
    np.testing.assert_allclose(found.mean(), expected, atol=1e-9)
    assert (found.nunique() == 1).all()


def test_similarity_may_be_a_ratio_that_runs_have_and_rows_a_coordinate():
    """Of 1 less the ratio of penalties, which falls with the gain; a pair has one row, whatever its seeds have."""
    risk = runs(spread=0.3)
    risk["distance"] = risk["risk_final"]
    made = mapped(risk, similarity="distance", similarity_of="saved", candidates=("distance",), row="overlap")
    np.testing.assert_allclose(made["similarity"], 1 - 10 ** -made["ratio_distance"], atol=1e-9)
    np.testing.assert_allclose(made["ratio_distance"], made["gain"], atol=1e-9)
    assert sorted(set(made["row"].values.tolist())) == [0, 1, 2]
    lowest = made["similarity"].groupby("row").mean().values
    assert (np.diff(lowest) > 0).all()


def test_a_finetuned_run_knows_what_the_readout_alone_gains_on_its_samples():
    found = frame(mapped(runs(("finetuning", "finetuning_probe")), protocols=("finetuning", "finetuning_probe")))
    tuned, probe = found.loc["finetuning"], found.loc["finetuning_probe"]
    np.testing.assert_allclose(tuned["probe_gain"], probe["gain"])
    assert probe["probe_gain"].isna().all()


def rows(**columns):
    return pd.DataFrame(columns)


def at(**coordinates):
    return xr.Dataset({"risk_final": ("run", np.ones(2))}, {name: ("run", v) for name, v in coordinates.items()})


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
    for n in (20, 150, 300):
        risks = transfer.scratch_risk(n / 200, 0.2), transfer.linear_transfer_risk(np.pi / 4, 0.2, n)
        found = atlas.linear_transfer(linear(0.25, n), "linear_transfer", 1e-8)
        assert found == pytest.approx(np.log10(risks[0] / risks[1]))
    assert atlas.linear_transfer(linear(0.25, 200), "linear_transfer", 1e-8) == np.inf  # at γ = 1
    assert atlas.linear_transfer(linear(0.25, 200), "finetuning", 1e-8) == 0  # of two infinite risks


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
    transferred = at(seed=[3, 0], samples=[20, 10], protocol=["finetuning"] * 2, solver=["exact"] * 2)
    found = atlas.ratio(transferred, source, "finetuning", "penalty")
    np.testing.assert_allclose(found, np.log10([43 / 23, 20 / 10]))
    against = atlas.ratio(transferred, source, "finetuning", "penalty", "new")
    np.testing.assert_allclose(against, np.log10([100 / 23, 100 / 10]))
    assert np.isnan(atlas.ratio(transferred, source, "probe", "penalty")).all()


def test_the_power_law_is_held_against_what_features_leave_out():
    """Shares of the target's variance, which is 2; the law is exact, R = 4 n^−1.5."""

    def risks(seed, protocol, samples, **_):
        return {"risk_final": 2 * 4.0 * samples**-1.5, "target_variance": 2.0}

    grid = {"teacher_scale": [1.0], "samples": [64, 128, 256]}
    risk = dataset(risks, {"protocol": ["single_task"], **grid})
    outside = dataset(lambda seed, ablated, **_: {"least_risk": 0.01 * (1 + seed) * ablated},
                      {"teacher_scale": [1.0], "ablated": [0.1, 0.5]})  # fmt: skip
    transferred = at(seed=[0, 2], ablated=[0.1, 0.5], samples=[16, 256], teacher_scale=[1.0, 1.0])
    found = atlas.power_law_against_floor(transferred, outside, risk)
    np.testing.assert_allclose(found, np.log10([4 * 16**-1.5 / 0.001, 4 * 256**-1.5 / 0.015]))
