"""What predicts gains: rank correlations within maps and over all of them against SciPy, and their intervals."""

import re

import numpy as np
import pytest
from scipy import stats

from carryover.claims import atlas
from carryover.figures.tables import predictors
from carryover.statistics import jackknife
from toy.atlas_runs import mapped, runs

BOTH = "finetuning", "finetuning_probe"


@pytest.fixture(scope="module")
def maps():
    first = mapped(runs(BOTH, spread=0.4), protocols=BOTH, family="First")
    second = mapped(runs(spread=0.2, draw=[0, 1]), family="Second", candidates=("penalty",))
    second["predicted"] = -second["predicted"] + 0.05 * second["seed"]
    return {"a": first, "b": second, "c": mapped(runs(BOTH[1:]), protocols=BOTH[1:], family="Third")}


@pytest.fixture(scope="module")
def rows(maps):
    return predictors.rows(maps, None).set_index("known beforehand")


def numbers(text):
    return [float(number) for number in re.findall(r"[\d.]+", text.replace("−", " "))]


@pytest.mark.parametrize("name", ["similarity", "predicted", "samples_per_parameter"])
def test_correlations_are_spearmans_over_pairs(rows, maps, name):
    for family, role in (("First", "a"), ("Second", "b")):
        frame = atlas.by_seed(maps[role])
        frame = frame[frame["protocol"] == "finetuning"]
        values = [stats.spearmanr(frame[name], frame["gain"]).statistic]
        values += [stats.spearmanr(part[name], part["gain"]).statistic
                   for part in (frame[frame["seed"] != seed] for seed in range(6))]  # fmt: skip
        cell = rows.loc[predictors.CANDIDATES[name], family]
        ends = jackknife.estimate(values, 0.0)
        assert cell.startswith("−") == (round(values[0], 2) < 0)
        assert numbers(cell)[0] == pytest.approx(abs(values[0]), abs=0.006)
        assert numbers(cell)[1] == pytest.approx(abs(max(ends["low"], -1)), abs=0.006)


def test_over_all_maps_each_has_the_same_weight(rows, maps):
    frames = [atlas.by_seed(maps[role]) for role in "ab"]
    x, y = (np.concatenate([frame[frame["protocol"] == "finetuning"][name] for frame in frames])
            for name in ("predicted", "gain"))  # fmt: skip
    assert len(x) == 2 * 54  # as many pairs each, so that nothing weighs more
    cell = rows.loc[predictors.CANDIDATES["predicted"], "all together"]
    assert numbers(cell)[0] == pytest.approx(abs(stats.spearmanr(x, y).statistic), abs=0.006)


def test_what_is_far_counts_against_the_gain():
    data = mapped()
    data["divergence"] = 1 - data["similarity"]
    found = predictors.rows({"a": data}, None).set_index("known beforehand")["Toy"]
    assert found[predictors.CANDIDATES["divergence"]] == found[predictors.CANDIDATES["similarity"]]


@pytest.mark.parametrize("weights", [None, [1, 2, 3]])
def test_rank_correlation_is_spearmans_of_points_as_often_as_they_weigh(weights):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 9, 60).astype(float)
    y = x + rng.normal(size=60) * 4
    x[0], y[1] = np.inf, -np.inf
    count = np.ones(60, int) if weights is None else rng.choice(weights, 60)
    expected = stats.spearmanr(np.repeat(x, count), np.repeat(y, count)).statistic
    assert predictors.rank_correlation(x, y, count) == pytest.approx(expected)
    x = np.append(x, np.nan)
    assert predictors.rank_correlation(x, np.append(y, 1.0), np.append(count, 5)) == pytest.approx(expected)
    assert np.isnan(predictors.rank_correlation(np.ones(4), np.arange(4.0), np.ones(4)))
    assert np.isnan(predictors.rank_correlation([np.nan], [1.0], [1.0]))
