"""One table of all claims: adjusted p-values, verdicts by them, seeds that would decide, and the order."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import check_claims
from carryover.analysis import archived_claims, claims_table, headlines, intervals
from carryover.analysis.intervals import LEVEL
from carryover.provenance import store

ARCHIVE = Path(__file__).parents[2] / "resources/archive"
SEEDS = np.array([-1.0, 0.0, 0.0, 1.0])


def group(means, paper="Paper", portable="rounding", **options):
    """Claims, by name, that their statistics, with the spread of `SEEDS`, lie above 0."""
    claims = [(name, f"{name} is above 0", mean + SEEDS, 0.0) for name, mean in means.items()]
    checked = intervals.table(claims, "1", "number", **options)
    return check_claims.with_origin(checked, [paper] * len(claims), [Path("toy/risk.nc")], portable)


@settings(derandomize=True, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_adjusted_p_values_decide_as_holms_steps(p_values):
    adjusted = claims_table.adjusted([*p_values, np.nan])
    assert np.isnan(adjusted[-1])
    ranked = np.sort(p_values)
    missed = [p for k, p in enumerate(ranked) if p > LEVEL / (len(ranked) - k)]
    below = min(missed, default=2)
    near = np.isclose(adjusted[:-1], LEVEL, rtol=1e-9)  # rounding decides there
    assert ((adjusted[:-1] <= LEVEL) == (np.array(p_values) < below))[~near].all()


@pytest.fixture
def one_claim(tmp_path, monkeypatch):
    """A file of claims in which all checks of the group `one` make up one claim."""
    claims = {intervals.OWN: {"whole": {"sentence": "it is so", "checks": ["one/*"]}}}
    (tmp_path / "claims.yaml").write_text(json.dumps(claims))
    monkeypatch.setattr(headlines, "FILE", tmp_path / "claims.yaml")


@pytest.mark.parametrize(
    ("means", "verdict"),
    [
        ({"up": 20.0, "also": 1.6}, "holds"),
        ({"up": 20.0, "down": -1.6}, "fails"),
        ({"up": 20.0, "open": 0.1}, "undecided"),
        ({"down": -1.6, **{f"open{i}": 0.1 for i in range(9)}}, "undecided"),  # fails alone
    ],
)
def test_a_claim_holds_with_all_checks_and_fails_with_one_that_does_among_so_many(one_claim, means, verdict):
    table = claims_table.gathered({"one": group(means)})
    assert set(table["headline_verdict"].values.tolist()) == {verdict}
    assert claims_table.counts(table)[verdict] == 1


def test_every_archived_check_belongs_to_a_claim_and_every_claim_has_checks():
    named = {claim for claims in headlines.read().values() for claim in claims}
    tables = [archived_claims.read(file) for file in sorted(ARCHIVE.glob("*/claims.csv"))]
    assert {name for table in tables for name in table["headline"]} == named
    assert len(named) <= 130


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
