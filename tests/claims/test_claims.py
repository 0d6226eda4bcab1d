"""Verdicts follow from intervals, and intervals from the seeds."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from carryover.analysis import intervals
from carryover.claims import exact_limit, feature_reuse
from carryover.config.parameters import model_of
from carryover.errors import UserError
from carryover.provenance import job_record, store


@pytest.mark.extended
def test_the_interval_of_few_values_covers_the_mean_as_often_as_it_says():
    rng = np.random.default_rng(0)
    found = [intervals.student(rng.normal(size=4), "", 0.0) for _ in range(1000)]
    assert stats.binomtest(sum(one["low"] <= 0 <= one["high"] for one in found), 1000, 0.95).pvalue > 0.01
    assert stats.kstest([one["p_value"] for one in found], "uniform").pvalue > 0.01


@settings(derandomize=True, deadline=None)
@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=12).filter(lambda values: np.ptp(values) > 1e-3),
       st.floats(-1e3, 1e3))  # fmt: skip
def test_interval_and_p_value_are_those_of_the_t_test_and_agree(values, bound):
    found = intervals.student([*values, np.nan], "", bound)
    expected = stats.ttest_1samp(values, bound)
    ends = expected.confidence_interval(0.95)
    np.testing.assert_allclose([found["low"], found["high"]], [ends.low, ends.high], rtol=1e-9, atol=1e-9)
    assert found["p_value"] == pytest.approx(expected.pvalue, rel=1e-6)
    assert found["deviation"] == pytest.approx(np.std(values, ddof=1))
    if abs(found["p_value"] - 0.05) > 1e-9:
        decided = intervals.verdict(found["low"], found["high"], bound) != "undecided"
        assert decided == (found["p_value"] < 0.05)


@pytest.mark.extended
def test_the_interval_of_a_median_covers_it_at_least_as_often_as_it_says():
    """Of values that have no mean, too."""
    rng = np.random.default_rng(0)
    found = [intervals.median(1 + rng.standard_cauchy(11), "", 1.0) for _ in range(1000)]
    covered = np.array([one["low"] <= 1 <= one["high"] for one in found])
    exact = 1 - 2 * stats.binom.cdf(1, 11, 0.5)  # between the second value and the last but one
    assert exact > 0.95
    assert stats.binomtest(covered.sum(), 1000, exact).pvalue > 0.01
    np.testing.assert_array_equal(covered, [one["p_value"] >= 0.05 for one in found])


@settings(derandomize=True, deadline=None)
@given(st.lists(st.floats(-1e3, 1e3), min_size=6, max_size=40, unique=True), st.floats(-1e3, 1e3))
def test_the_p_value_of_a_median_is_that_of_the_sign_test(values, bound):
    if bound in values:
        return
    found = intervals.median([*values, np.nan], "", bound)
    above = sum(value > bound for value in values)
    assert found["p_value"] == pytest.approx(stats.binomtest(above, len(values), 0.5).pvalue)
    assert found["statistic"] == np.median(values)
    assert found["seeds"] == len(values)
    decided = intervals.verdict(found["low"], found["high"], bound) != "undecided"
    assert decided == (found["p_value"] < 0.05)


def test_what_was_computed_is_its_own_interval_and_has_no_p_value():
    claims = [("up", "it is up", 0.2, 0.1), ("down", "it is up", 0.0, 0.1), ("none", "it is up", np.nan, 0.1)]
    found = intervals.table(claims, estimate=intervals.exact)
    assert found["verdict"].values.tolist() == ["holds", "fails", "undecided"]
    assert np.isnan(found["p_value"]).all()
    assert (found["interval"] == "computed, not drawn").all()


def test_a_share_of_which_nothing_varies_is_known_as_well_as_so_many_networks_tell():
    for one in (0, 1):
        networks = pd.Series([one] * 12, index=[seed for seed in range(4) for _ in range(3)])
        found = intervals.share(networks, "", 0.9)
        expected = stats.binomtest(12 * one, 12, 0.9)
        ends = expected.proportion_ci(0.95, "exact")
        np.testing.assert_allclose([found["low"], found["high"]], [ends.low, ends.high])
        assert (found["statistic"], found["seeds"]) == (one, 12)
        tails = stats.binom.cdf(12 * one, 12, 0.9), stats.binom.sf(12 * one - 1, 12, 0.9)
        assert found["p_value"] == pytest.approx(min(1, 2 * min(tails)))
    shares = pd.Series([1, 1, 0, 1, 1, 1], index=[0, 0, 0, 1, 1, 2])
    found = intervals.share(shares, "", 0.9)
    expected = intervals.student([2 / 3, 1, 1], "", 0.9)
    assert expected["high"] > 1
    assert found == expected | {"high": 1.0}


VALUES = "a claim of toy must have 4 to 7 values, name, statement, values, bound, section, measured, estimate: one has"
NO_CLAIMS = {
    "nothing": (None, "toy must return claims, not NoneType."),
    "a dataset": (xr.Dataset({"risk": 1.0}), f"{VALUES} str."),
}


@pytest.mark.parametrize(("given", "said"), NO_CLAIMS.values(), ids=list(NO_CLAIMS))
def test_what_a_plugin_gives_in_the_place_of_claims_is_named(given, said):
    def check(data, p):
        return given

    check.__module__ = "carryover.claims.toy"
    with pytest.raises(UserError) as refused:
        intervals.claims("1")(check)(None, None)
    assert str(refused.value) == said


@pytest.mark.parametrize(("low", "high", "expected"), [(0.1, 1, "holds"), (-1, -0.1, "fails"), (-1, 1, "undecided")])
def test_verdicts(low, high, expected):
    assert intervals.verdict(low, high, 0.0) == expected


def risks(finetuning):
    rows = [
        (protocol, overlap, seed, value * (1 + 0.1 * seed))
        for protocol, value in (("single_task", 1.0), ("multi_task", 0.1), ("finetuning", finetuning),
                                ("finetuning_probe", 0.5))
        for overlap in (0.5, 1.0)
        for seed in range(4)
    ]  # fmt: skip
    protocol, overlap, seed, risk = zip(*rows, strict=True)
    coordinates = {
        "protocol": list(protocol),
        "overlap": list(overlap),
        "seed": list(seed),
        "samples": [32] * len(rows),
    }
    return xr.Dataset({"risk_final": ("run", list(risk))}, coords={k: ("run", v) for k, v in coordinates.items()})


@pytest.mark.parametrize(("finetuning", "expected"), [(0.01, "holds"), (10.0, "fails")])
def test_the_advantage_of_finetuning_is_the_ratio_of_risks(finetuning, expected, tmp_path):
    checked = feature_reuse.check({"risk": risks(finetuning)}, model_of("claims", "feature_reuse")())
    row = checked.sel(claim="finetuning_shared")
    assert row["statistic"] == pytest.approx(-np.log10(finetuning))
    assert row["verdict"] == expected
    # Multi-task learning, at a risk of 0.1, is better than the one and worse than the other.
    assert checked.sel(claim="multi_task_first")["verdict"] == {"holds": "fails", "fails": "holds"}[expected]
    store.save(checked, tmp_path / "claims.nc")


@pytest.mark.parametrize(("distance", "expected"), [(1e-4, "holds"), (1e-2, "fails")])
def test_solvers_are_held_to_their_distance_from_the_exact_limit(distance, expected):
    solvers = {"exact": 0.0, "flow": distance, "descent": 1e-3, "symmetric": 0.1}
    runs = [(solver, seed) for solver in solvers for seed in range(3)]
    beta = np.array([[1 + solvers[solver], 0.0] for solver, _ in runs])
    same = {"protocol": "finetuning", "samples": 8, "main_features": 2, "overlap": 1.0, "rescale": 1.0}
    coordinates = {"solver": [s for s, _ in runs], "seed": [s for _, s in runs]}
    coordinates |= {name: [value] * len(runs) for name, value in same.items()}
    data = xr.Dataset({"coefficients": (("run", "input"), beta)}, {k: ("run", v) for k, v in coordinates.items()})
    checked = exact_limit.check({"coefficients": data}, model_of("claims", "exact_limit")())
    assert checked.sel(claim="flow_exact")["verdict"] == expected
    assert checked.sel(claim="not_symmetric")["statistic"] == pytest.approx(2.0)


def test_the_script_checks_claims_and_writes_them(tmp_path, capsys):
    import check_claims

    data = risks(0.01)
    for name in [*data.data_vars, *data.coords]:
        data[name].attrs = {"long_name": name, "units": "1"}
    told = {"rule": "collect", "modules": ["carryover.provenance.store"], "portable": "distribution"}
    with job_record.Job(outputs=[tmp_path / "risk.nc"], **told) as job:
        job.save(data)
    words = ["feature_reuse", "--roles", "risk", "--data", str(tmp_path / "risk.nc")]
    check_claims.main([*words, "--output", str(tmp_path / "claims.nc")])
    assert "holds      Finetuned networks err less than networks trained from scratch" in capsys.readouterr().out
    found = store.load(tmp_path / "claims.nc")
    assert found.sizes["claim"] == 4
    assert (found["data"] == f"{tmp_path.name}/risk").all()
    assert (found["paper"] == intervals.OWN).all()
    assert (found["portable"] == "distribution").all()
    of_papers = [*words, "--paper", "A paper", "--elsewhere", "multi_task_first=Another"]
    check_claims.main([*of_papers, "--output", str(tmp_path / "of_papers.nc")])
    papers = store.load(tmp_path / "of_papers.nc")["paper"]
    assert {name: str(papers.sel(claim=name).values) for name in ("finetuning_shared", "multi_task_first")} == {
        "finetuning_shared": "A paper", "multi_task_first": "Another"}  # fmt: skip
    with pytest.raises(UserError, match=r"^--elsewhere x: this group has no such claim; it has: finetuning_shared, .*"):
        check_claims.main([*words, "--elsewhere", "x=Another", "--output", str(tmp_path / "none.nc")])
    with pytest.raises(UserError, match="data of the role risk are needed; given were: risks"):
        check_claims.main([words[0], "--roles", "risks", *words[3:], "--output", str(tmp_path / "none.nc")])
    assert not (tmp_path / "none.nc").exists()
