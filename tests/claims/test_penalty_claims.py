"""Claims about the penalty of ReLU units follow the curve that they are given."""

import numpy as np
import pytest

from carryover.claims import relu_penalty
from carryover.config.parameters import model_of
from carryover.curves import relu_penalty as curves
from carryover.errors import UserError
from carryover.provenance import store

CURVE = curves.compute(model_of("curves", "relu_penalty")())


def verdicts(curve, **options):
    return relu_penalty.check({"curve": curve}, model_of("claims", "relu_penalty")(**options))["verdict"].to_series()


def test_the_real_curve_is_linear_for_the_new_unit_alone(tmp_path):
    checked = relu_penalty.check({"curve": CURVE}, model_of("claims", "relu_penalty")())
    found = checked["verdict"].to_series()
    assert set(found.index[found == "fails"]) == {"l1_like_1"}
    assert set(found[found != "fails"]) == {"holds"}
    penalty, (_, unit, _) = CURVE["penalty"].sel(correlation=0.9), CURVE["auxiliary_magnitude"].values
    assert unit == 1.0
    at_one = penalty.sel(magnitude=1.0, method="nearest").values
    assert checked["statistic"].sel(claim="large_hurts") == pytest.approx(np.log10(at_one[2] / at_one[0]))
    store.save(checked, tmp_path / "claims.nc")


FAILS = [
    ("gap", "penalty", 1e-3, {"correlation": 1.0, "auxiliary_magnitude": 0.01}),
    ("large_hurts", "penalty", 1e-3, {"correlation": 0.9, "auxiliary_magnitude": 100.0}),
    ("comparable_helps", "penalty", 1e-3, {"correlation": 0.9, "auxiliary_magnitude": 0.01}),
    ("large_helps", "penalty", 1e-3, {"correlation": 1.0, "auxiliary_magnitude": 0.01}),
    ("l1_like_1_at_0.9", "exponent", 2.0, {"correlation": 0.9, "auxiliary_magnitude": 1.0}),
    ("l1_like_0.01", "exponent", 2.0, {"correlation": 0.99, "auxiliary_magnitude": 0.01}),
    ("vanishes", "exponent", 1.0, {"correlation": 0.5, "auxiliary_magnitude": 1.0}),
]


@pytest.mark.parametrize(("claim", "name", "value", "where"), FAILS, ids=[claim for claim, *_ in FAILS])
def test_a_curve_that_says_otherwise_fails(claim, name, value, where):
    curve = CURVE.copy(deep=True)
    curve[name].loc[where] = value
    assert verdicts(curve)[claim] == "fails"


def test_a_curve_without_the_units_that_are_compared_is_refused():
    with pytest.raises(UserError, match=r"^this claim needs auxiliary_magnitude 100 of the role curve, which has 2"):
        verdicts(CURVE.sel(auxiliary_magnitude=[0.01, 1.0]))
    with pytest.raises(UserError, match=r"^this claim needs the penalty along correlation of the role curve"):
        verdicts(CURVE.stack(run=["correlation", "magnitude", "auxiliary_magnitude"]))
