"""Tables of correlations: our R² beside the published ones, and what predicts gains within and over maps."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

from carryover.analysis.atlas import by_seed, cells, leave_one_family_out, select_finetuned
from carryover.analysis.image_pairs import BOUNDS, mean_r_squared, pair_table, r_squared
from carryover.figures.tables import correlations
from carryover.statistics import jackknife
from toy.atlas_runs import mapped, runs
from toy.bound_runs import made

PUBLISHED = pd.DataFrame(
    [(b, n, 0.5 + 0.01 * n, 0.02) for b in BOUNDS for n in (10, 30)],
    columns=["bound", "samples", "r_squared", "deviation"],
)
BOTH = "finetuning", "finetuning_probe"


def test_ours_are_means_and_deviations_over_seeds():
    data = made(pairs=200)
    bounds = correlations.bound_correlations({"bounds": data, "published": PUBLISHED}, SimpleNamespace(constant=1.0))
    found = r_squared(pair_table(data))
    for bound, name in BOUNDS.items():
        for estimator, label in (("least_squares", "least squares"), ("ridge_0.01", "ridge")):
            values = found.sel(estimator=estimator, samples=20, bound=bound).values
            spread, interval = bounds[(bounds["bound"] == name) & bounds[""].str.contains(label)]["n = 20"]
            assert spread == f"{values.mean():.2f} ± {values.std(ddof=1):.2f}"
            low, high = map(float, re.fullmatch(r"(\S+) to (\S+)", interval).groups())
            assert 0 <= low <= round(values.mean(), 2) <= high <= 1


def test_of_the_variants_that_whose_first_half_is_as_published_is_the_nearest():
    def variant(pixels, seed):
        runs = made(seed=seed, pairs=40).assign_coords(target_from=("run", ["zero"] * (2 * 5 * 40 * 2)))
        return runs.assign_coords(pixels=("run", np.full(runs.sizes["run"], pixels)))

    disjoint = xr.concat([variant("raw", 1), variant("centred", 2)], "run")
    half = pair_table(variant("centred", 2), 0.3).sel(estimator="ridge_0.01").isel(pair=slice(20))
    published = mean_r_squared(half).drop_vars("estimator").rename("r_squared").to_dataframe().reset_index()
    found = correlations.bound_variants({"published": published, "disjoint": disjoint, "any": variant("raw", 3)})
    assert found["learned"].tolist()[:2] == ["published", "ridge of 0.01 λ₁"]
    assert found.loc[1, ["pixels", "c", "classes", "difference"]].tolist() == ["centred", "0.3", "four", "0.00"]
    assert float(found.loc[2, "difference"]) > 0


@pytest.fixture(scope="module")
def maps():
    first = mapped(runs(BOTH, spread=0.4), protocols=BOTH, family="First")
    second = mapped(runs(spread=0.2, draw=[0, 1]), family="Second", candidates=("penalty",))
    second["predicted"] = -second["predicted"] + 0.05 * second["seed"]
    return {"a": first, "b": second, "c": mapped(runs(BOTH[1:]), protocols=BOTH[1:], family="Third")}


@pytest.fixture(scope="module")
def rows(maps):
    return correlations.predictors(maps).set_index("known beforehand")


def numbers(text):
    return [float(number) for number in re.findall(r"[\d.]+", text.replace("−", " "))]


@pytest.mark.parametrize("name", ["similarity", "predicted", "samples_per_parameter"])
def test_correlations_are_spearmans_over_pairs(rows, maps, name):
    for family, role in (("First", "a"), ("Second", "b")):
        frame = by_seed(maps[role])
        frame = frame[frame["protocol"] == "finetuning"]
        values = [stats.spearmanr(frame[name], frame["gain"]).statistic]
        values += [stats.spearmanr(part[name], part["gain"]).statistic
                   for part in (frame[frame["seed"] != seed] for seed in range(6))]  # fmt: skip
        cell = rows.loc[correlations.CANDIDATES[name], family]
        ends = jackknife.estimate(values, 0.0)
        assert cell.startswith("−") == (round(values[0], 2) < 0)
        assert numbers(cell)[0] == pytest.approx(abs(values[0]), abs=0.006)
        assert numbers(cell)[1] == pytest.approx(abs(max(ends["low"], -1)), abs=0.006)


def test_the_mean_over_maps_is_that_of_their_correlations(rows, maps):
    frames = [select_finetuned(maps[role]) for role in "ab"]
    expected = np.mean([stats.spearmanr(frame["predicted"], frame["gain"]).statistic for frame in frames])
    cell = rows.loc[correlations.CANDIDATES["predicted"], "mean"]
    assert numbers(cell)[0] == pytest.approx(abs(expected), abs=0.006)


def test_signs_stand_beside_the_more_frequent_one_where_other_maps_can_choose(rows, maps):
    frames = [select_finetuned(maps[role]) for role in "ab"]
    tables = [cells(frame).dropna(subset="right") for frame in frames]
    gains = [(table["gain"] > 0).to_numpy() for table in tables]
    expected = np.mean([np.mean(own == (other.mean() > 0.5)) for own, other in (gains, gains[::-1])])
    cell = rows.loc[correlations.CANDIDATES["predicted"]]
    assert numbers(cell["more frequent sign"])[0] == pytest.approx(expected, abs=0.006)
    assert numbers(cell["sign"])[0] == pytest.approx(leave_one_family_out(tables, "predicted"), abs=0.006)
    only = rows[rows["families"] == "1 of 2"]
    assert len(only)
    assert (only[["sign", "more frequent sign"]] == "").all(axis=None)


def test_what_is_far_counts_against_the_gain():
    data = mapped()
    data["divergence"] = 1 - data["similarity"]
    found = correlations.predictors({"a": data}).set_index("known beforehand")["Toy"]
    assert found[correlations.CANDIDATES["divergence"]] == found[correlations.CANDIDATES["similarity"]]
