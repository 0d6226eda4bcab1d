"""Our R² stands beside the published one of the same bound and number of samples."""

import re

import pandas as pd
import pytest

from carryover.claims import bound_correlations as claims
from carryover.figures.tables import correlations
from toy.bound_runs import made

PUBLISHED = pd.DataFrame(
    [(b, n, 0.5 + 0.01 * n, 0.02) for b in claims.BOUNDS for n in (10, 30)],
    columns=["bound", "samples", "r_squared", "deviation"],
)


@pytest.fixture(scope="module")
def rows():
    return correlations.bound_correlations({"bounds": made(pairs=200), "published": PUBLISHED}, None)


def test_published_r_squared_stand_in_the_columns_of_the_same_samples(rows):
    theirs = rows[rows[""] == "published (MNIST): R², mean ± s.d."]
    assert theirs["bound"].tolist() == [*claims.BOUNDS.values()]
    assert set(zip(theirs["n = 10"], theirs["n = 20"], strict=True)) == {("0.60 ± 0.02", "")}


def test_ours_are_means_and_deviations_over_seeds(rows):
    found = claims.r_squared(claims.pair_table(made(pairs=200)))
    for bound, name in claims.BOUNDS.items():
        for cutoff, label in ((0.0, "least squares"), (0.01, "cutoff 0.01")):
            values = found.sel(cutoff=cutoff, samples=20, bound=bound).values
            spread, interval, share = rows[(rows["bound"] == name) & rows[""].str.contains(label)]["n = 20"]
            assert spread == f"{values.mean():.2f} ± {values.std(ddof=1):.2f}"
            low, high = map(float, re.fullmatch(r"(\S+) to (\S+)", interval).groups())
            assert 0 <= low <= round(values.mean(), 2) <= high <= 1
            assert re.fullmatch(r"\S+ \(\S+ to \S+\)", share)
