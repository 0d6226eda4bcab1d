"""Verdicts follow from intervals, and intervals from the seeds."""

import numpy as np
import pytest
import xarray as xr
from scipy import stats

from carryover import store
from carryover.claims import _interval, exact_limit, feature_reuse
from carryover.errors import UserError


def test_the_interval_covers_the_mean_as_often_as_it_says():
    rng = np.random.default_rng(0)
    hits = 0
    for trial in range(300):
        _, low, high = _interval.interval(rng.normal(size=30), f"trial {trial}")
        hits += low <= 0 <= high
    # The percentile bootstrap of 30 values covers a little less than 95 %.
    assert stats.binomtest(hits, 300, 0.93).pvalue > 0.01


def test_the_interval_of_many_values_is_that_of_the_normal():
    values = np.random.default_rng(1).normal(2.0, 3.0, size=4000)
    mean, low, high = _interval.interval(values, "normal")
    half = 1.96 * values.std(ddof=1) / np.sqrt(len(values))
    np.testing.assert_allclose(
        [low, mean, high], [values.mean() - half, values.mean(), values.mean() + half], atol=0.01
    )


def test_one_seed_or_none_decides_nothing():
    assert np.isnan(_interval.interval([1.0, np.nan], "one")).all()
    assert _interval.verdict(np.nan, np.nan, 0.0) == "undecided"


@pytest.mark.parametrize(("low", "high", "expected"), [(0.1, 1, "holds"), (-1, -0.1, "fails"), (-1, 1, "undecided")])
def test_verdicts(low, high, expected):
    assert _interval.verdict(low, high, 0.0) == expected


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
    checked = feature_reuse.check({"risk": risks(finetuning)}, feature_reuse.Parameters())
    row = checked.sel(claim="finetuning_shared")
    assert row["statistic"] == pytest.approx(-np.log10(finetuning))
    assert row["verdict"] == expected
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
    checked = exact_limit.check({"coefficients": data}, exact_limit.Parameters())
    assert checked.sel(claim="flow_exact")["verdict"] == expected
    assert checked.sel(claim="not_symmetric")["statistic"] == pytest.approx(2.0)


def test_the_script_checks_claims_and_writes_them(tmp_path, capsys):
    import claim

    data = risks(0.01)
    for name in [*data.data_vars, *data.coords]:
        data[name].attrs = {"long_name": name, "units": "1"}
    store.save(data, tmp_path / "risk.nc")
    words = ["feature_reuse", "--roles", "risk", "--data", str(tmp_path / "risk.nc")]
    claim.main([*words, "--output", str(tmp_path / "claims.nc")])
    assert "holds      PT+FT beats STL" in capsys.readouterr().out
    assert store.load(tmp_path / "claims.nc").sizes["claim"] == 3
    with pytest.raises(UserError, match="data of the role risk are needed; given were: risks"):
        claim.main([words[0], "--roles", "risks", *words[3:], "--output", str(tmp_path / "none.nc")])
    assert not (tmp_path / "none.nc").exists()
