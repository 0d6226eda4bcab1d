"""How often the intervals of a diagnosis hold the truth."""

import numpy as np
import pytest

from carryover.diagnosis.diagnosis import diagnose


@pytest.mark.extended
def test_intervals_hold_the_truth_as_often_as_they_say():
    """Normal responses with known covariances: PR and what is shared follow from these."""
    rng = np.random.default_rng(3)
    A, B = rng.standard_normal((6, 9)), rng.standard_normal((9, 7))
    noise = 0.5
    x, y = A.T @ A, B.T @ A.T @ A @ B + noise**2 * np.eye(7)
    xx, yy, xy = (x**2).sum(), (y**2).sum(), ((A.T @ A @ B) ** 2).sum()
    before, after = np.trace(x) ** 2 / xx, np.trace(y) ** 2 / yy
    truth = {
        "participation_ratio_before": before,
        "participation_ratio_after": after,
        "change": after / before,
        "cka": xy / np.sqrt(xx * yy),
        "ensd": xy * np.trace(x) * np.trace(y) / (xx * yy),
        "inherited": xy * np.trace(x) / (xx * np.trace(y)),
    }
    hits, draws = dict.fromkeys(truth, 0), 250
    for _ in range(draws):
        X = rng.standard_normal((300, 6)) @ A
        found = diagnose({"a": X}, {"a": X @ B + noise * rng.standard_normal((300, 7))})
        for name, value in truth.items():
            hits[name] += found[f"{name}_low"].item() < value < found[f"{name}_high"].item()
    for name, count in hits.items():
        assert 0.91 < count / draws < 0.985, (name, count)
