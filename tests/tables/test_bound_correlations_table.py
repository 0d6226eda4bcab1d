"""Our R² stands beside the published one of the same bound and number of samples."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from carryover.analysis import r_squared
from carryover.tables import bound_correlations
from toy.bound_runs import made

PUBLISHED = pd.DataFrame(
    [(b, n, 0.5 + 0.01 * n, 0.02) for b in r_squared.BOUNDS for n in (10, 30)],
    columns=["bound", "samples", "r_squared", "deviation"],
)


@pytest.fixture(scope="module")
def rows():
    return bound_correlations.rows({"bounds": made(), "published": PUBLISHED}, bound_correlations.Parameters())


def test_a_bound_has_two_rows_a_cutoff_and_the_published(rows):
    assert rows.columns.tolist() == ["bound", "R²", "n = 10", "n = 20"]
    assert rows["bound"].tolist() == [name for name in r_squared.BOUNDS.values() for _ in range(5)]
    kinds = ["least squares: mean ± s.d.", "least squares: 95 % interval", "cutoff 0.01: mean ± s.d.",
             "cutoff 0.01: 95 % interval"]  # fmt: skip
    assert rows["R²"].tolist() == [*(f"ours, {kind}" for kind in kinds), "published (MNIST)"] * 3


def test_published_values_stand_at_their_samples(rows):
    theirs = rows[rows["R²"] == "published (MNIST)"]
    assert (theirs["n = 10"] == "0.60 ± 0.02").all()
    assert (theirs["n = 20"] == "").all()


def test_ours_are_mean_deviation_and_interval_over_seeds(rows):
    found = r_squared.r_squared(made())
    for bound, name in r_squared.BOUNDS.items():
        for cutoff, label in ((0.0, "least squares"), (0.01, "cutoff 0.01")):
            values = found.xs((cutoff, 20), level=("cutoff", "samples"))[bound].to_numpy()
            mine = rows[(rows["bound"] == name) & rows["R²"].str.contains(label)].set_index("R²")["n = 20"]
            spread, interval = mine
            assert spread == f"{values.mean():.2f} ± {values.std(ddof=1):.2f}"
            low, high = map(float, re.fullmatch(r"(.*) to (.*)", interval).groups())
            ends = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
            np.testing.assert_allclose([low, high], [ends.low, ends.high], rtol=0, atol=0.0051)
