"""Claims about the penalty of ReLU units follow the curve that they are given."""

import numpy as np
import pytest

from carryover.config import plugins
from carryover.theory.norms import q_norm
from toy.made_up_runs import checks_of

CURVE = plugins.call("theory.curves", "relu_penalty")


def test_diagonal_networks_are_like_themselves():
    curve = CURVE.copy(deep=True)
    magnitude, auxiliary = CURVE["magnitude"].values, CURVE["auxiliary_magnitude"].values
    diagonal = np.array([[q_norm([m], [np.sqrt(c)], [0.0]) for m in magnitude] for c in auxiliary])
    curve["penalty"].loc[{"correlation": 1.0}] = diagonal
    curve["exponent"].loc[{"correlation": 1.0}] = np.gradient(np.log(diagonal), np.log(magnitude), axis=1)
    found = checks_of("relu_penalty", {"curve": curve})["statistic"]
    assert found.sel(claim="like_diagonal_1") == pytest.approx(1, abs=0.03)
    assert found.sel(claim="like_diagonal_0.99") < 0.97


FAILS = [
    ("gap_1", "penalty", 1e-3, {"correlation": 1.0, "auxiliary_magnitude": 0.01}),
    ("like_diagonal_1", "exponent", 3.0, {"correlation": 1.0, "auxiliary_magnitude": 100.0}),
    ("large_hurts", "penalty", 1e-3, {"correlation": 0.9, "auxiliary_magnitude": 100.0}),
    ("comparable_helps", "penalty", 1e-3, {"correlation": 0.9, "auxiliary_magnitude": 0.01}),
    ("l1_like_1_at_0.9", "exponent", 2.0, {"correlation": 0.9, "auxiliary_magnitude": 1.0}),
]


@pytest.mark.parametrize(("claim", "name", "value", "where"), FAILS, ids=[claim for claim, *_ in FAILS])
def test_a_curve_that_says_otherwise_fails(claim, name, value, where):
    curve = CURVE.copy(deep=True)
    curve[name].loc[where] = value
    assert checks_of("relu_penalty", {"curve": curve})["verdict"].sel(claim=claim) == "fails"
