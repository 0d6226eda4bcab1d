"""One table of all claims: adjusted p-values, verdicts by them, seeds that would decide, and the order."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import check_claims
from carryover.analysis import claims_table, intervals
from carryover.analysis.intervals import LEVEL
from carryover.provenance import store

SEEDS = np.array([-1.0, 0.0, 0.0, 1.0])


def group(means, paper="Paper", portable="rounding", **options):
    """Claims, by name, that their statistics, with the spread of `SEEDS`, lie above 0."""
    claims = [(name, f"{name} is above 0", mean + SEEDS, 0.0) for name, mean in means.items()]
    checked = intervals.table(claims, "1", "number", **options)
    return check_claims.with_origin(checked, [paper] * len(claims), [Path("toy/risk.nc")], portable)


@settings(derandomize=True, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_adjusted_p_values_decide_as_benjamini_and_hochbergs_steps(p_values):
    adjusted = claims_table.adjusted([*p_values, np.nan])
    assert np.isnan(adjusted[-1])
    ranked = np.sort(p_values)
    steps = [k for k in range(1, len(ranked) + 1) if ranked[k - 1] <= LEVEL * k / len(ranked)]
    largest = ranked[max(steps) - 1] if steps else -1
    near = np.isclose(adjusted[:-1], LEVEL, rtol=1e-9)  # rounding decides there
    assert ((adjusted[:-1] <= LEVEL) == (np.array(p_values) <= largest))[~near].all()
    assert (adjusted[:-1] >= p_values - np.float64(1e-12)).all()


def test_a_claim_that_is_decided_alone_is_open_among_many():
    alone = claims_table.gathered({"one": group({"likely": 1.6})})
    assert alone["verdict"].values.tolist() == ["holds"]
    among = claims_table.gathered({"one": group({"likely": 1.6, **{f"no{i}": 0.1 for i in range(9)}})})
    row = among.sel(claim="one/likely")
    assert (row["verdict_alone"], row["verdict"]) == ("holds", "undecided")
    assert row["adjusted_p_value"] == pytest.approx(10 * row["p_value"])


def test_by_paper_the_worst_news_comes_first_and_what_no_paper_says_last(tmp_path):
    means = {"up": 20.0, "down": -20.0, "open": 0.1}
    papers = {"c": "A paper", "b": intervals.OWN, "a": "Z paper"}
    table = claims_table.gathered({name: group(means, paper) for name, paper in papers.items()})
    assert table["claim"].values.tolist() == [f"{name}/{one}" for name in "cab" for one in ("down", "open", "up")]
    assert claims_table.counts(table) == {"fails": 3, "undecided": 3, "holds": 3}
    store.save(table, tmp_path / "claims.nc")
    assert store.load(tmp_path / "claims.nc")["verdict"].values.tolist() == table["verdict"].values.tolist()


def test_what_was_computed_keeps_its_verdict_and_counts_for_no_adjustment():
    computed = intervals.table([("sure", "it is", 1.0, 0.0)], estimate=intervals.exact)
    computed = check_claims.with_origin(computed, ["Paper"], [Path("theory/curve.nc")], "rounding")
    table = claims_table.gathered({"drawn": group({"likely": 1.6}), "computed": computed})
    assert table["verdict"].sel(claim="computed/sure") == "holds"
    assert table["adjusted_p_value"].sel(claim="drawn/likely") == table["p_value"].sel(claim="drawn/likely")


@pytest.mark.extended
@pytest.mark.parametrize(("effect", "level"), [(0.5, 0.05), (1.5, 0.05), (1.5, 0.01)])
def test_the_seeds_that_are_needed_decide_four_times_in_five(effect, level):
    needed = claims_table.seeds_needed(effect, level)
    rng = np.random.default_rng(0)

    def decided(seeds):
        runs = rng.normal(effect, 1.0, size=(20_000, int(seeds)))
        found = stats.ttest_1samp(runs, 0.0, axis=1)
        return ((found.pvalue < level) & (found.statistic > 0)).mean()

    assert decided(needed) > 0.79
    assert decided(needed - 1) < 0.81


@pytest.mark.extended
@pytest.mark.parametrize(("fewer", "seeds"), [(1, 6), (3, 10), (8, 20), (0, 5)])
def test_medians_need_the_seeds_of_a_sign_test(fewer, seeds):
    values = np.where(np.arange(seeds) < fewer, -1.0, 1.0) * np.linspace(1, 2, seeds)
    checked = intervals.table([("it", "it is", values, 0.0)], estimate=intervals.median)
    table = claims_table.gathered({"one": check_claims.with_origin(checked, ["Paper"], [Path("toy/risk.nc")], "exact")})
    if seeds < 6:  # no interval
        assert table["would_decide"].values.tolist() == ["not known"]
        return
    needed = int(table["seeds_needed"].item())
    assert needed > seeds

    def decided(number):
        above = np.random.default_rng(0).binomial(number, 1 - fewer / seeds, size=2000)
        tests = {one: stats.binomtest(int(one), number).pvalue <= LEVEL for one in np.unique(above)}
        return np.mean([tests[one] and one > number / 2 for one in above])

    assert decided(needed) > 0.77
    assert all(decided(number) < 0.83 for number in range(max(1, needed - 3), needed))
