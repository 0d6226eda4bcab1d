"""What the penalty of moving a pretrained ReLU unit is like, curve by curve: "The implicit penalty", Fig. 1a and b."""

import numpy as np

from carryover.analysis import intervals
from carryover.errors import UserError

PENALTY = "1.2, Fig. 1a", "log₁₀ of a ratio of penalties"
EXPONENT = "1.2, Fig. 1b"
NEW, SAME, LARGE = 0.01, 1.0, 100.0  # magnitudes in the auxiliary task of a feature that has about 1 in the main one


@intervals.claims(estimate=intervals.exact)
def check(data, p):
    """Role: `curve` of curves.relu_penalty, with cosines .9, .99 and 1 and auxiliary magnitudes .01, 1 and 100.

    Statistics are computed, not drawn. Raises UserError for a cosine or magnitude that the curve does not have.
    """
    curve = data["curve"]
    like = "log–log slope, distance from 1 with the sign changed"
    return [
        ("gap", "At cosine 1 a new unit costs more than one that pretraining has used, wherever the penalty of both is "
         "like ℓ1", _smallest_gap(curve, p.near), 0.0, *PENALTY),
        ("large_hurts", "At cosine 0.9 a unit that pretraining made 100 times too large costs more than a new one",
         _log_ratio(curve, 0.9, LARGE, NEW), 0.0, *PENALTY),
        ("comparable_helps", "At cosine 0.9 a unit that pretraining made as large as it must be costs less than a new "
         "one", _log_ratio(curve, 0.9, NEW, SAME), 0.0, *PENALTY),
        ("large_helps", "At cosine 1 a unit that pretraining made 100 times too large costs less than a new one",
         _log_ratio(curve, 1.0, NEW, LARGE), 0.0, *PENALTY),
        ("l1_like_1", "At cosine 0.99 and m = 1 the penalty is like ℓ1 for a unit that both tasks use alike",
         -abs(_exponent(curve, 0.99, SAME) - 1), -p.near, EXPONENT, like),
        ("l1_like_1_at_0.9", "At cosine 0.9 and m = 1 the penalty is like ℓ1 for a unit that both tasks use alike",
         -abs(_exponent(curve, 0.9, SAME) - 1), -p.near, EXPONENT, like),
        ("l1_like_0.01", "At cosine 0.99 and m = 1 the penalty is like ℓ1 for a unit that pretraining has not used",
         -abs(_exponent(curve, 0.99, NEW) - 1), -p.near, intervals.own(EXPONENT), like),
        ("vanishes", "At cosines below 1 the penalty of very small units hardly depends on their magnitude",
         -_slope_of_small(curve), -p.near, intervals.own(EXPONENT), "largest log–log slope, with the sign changed"),
    ]  # fmt: skip


def _exponent(curve, cosine, magnitude):
    """The log–log slope at m = 1."""
    return _at(_unit(curve, cosine, magnitude), "magnitude", 1.0)["exponent"]


def _slope_of_small(curve):
    """The largest log–log slope at the smallest magnitude, of units used alike, at cosines below 1."""
    small = curve["exponent"].isel(magnitude=0, correlation=curve["correlation"].values < 1)
    return _at(small, "auxiliary_magnitude", SAME).max()


def _smallest_gap(curve, near):
    """log₁₀ of the penalty of a new over that of a used unit, where it is smallest; NaN where no exponent is near 1."""
    new, used = (_unit(curve, 1.0, magnitude) for magnitude in (NEW, SAME))
    linear = (abs(new["exponent"] - 1) <= near) & (abs(used["exponent"] - 1) <= near)
    return np.log10(new["penalty"] / used["penalty"]).where(linear).min()


def _log_ratio(curve, cosine, over, under):
    """log₁₀ of the ratio of the penalties of units that pretraining left with two magnitudes, at m = 1."""
    one, other = (_at(_unit(curve, cosine, m), "magnitude", 1.0)["penalty"] for m in (over, under))
    return np.log10(one / other)


def _unit(curve, cosine, magnitude):
    return _at(_at(curve, "correlation", cosine), "auxiliary_magnitude", magnitude)


def _at(curve, name, value):
    """The curve at a value of a coordinate, to a tenth of a per cent; UserError where it has none there, or runs."""
    if name not in curve.dims:
        raise UserError(f"this claim needs the penalty along {name} of the role curve, which has no such dimension.")
    values = curve[name].values
    (near,) = np.nonzero(np.isclose(values, value, rtol=1e-3))
    if not len(near):
        known = f"{len(values)} values, {values[0]:g} … {values[-1]:g}"
        raise UserError(f"this claim needs {name} {value:g} of the role curve, which has {known}.")
    return curve.isel({name: near[np.abs(values[near] - value).argmin()]})
