"""What the penalty of moving a pretrained ReLU unit is like, curve by curve: "The implicit penalty", Fig. 1a and b."""

from dataclasses import dataclass

import numpy as np

from carryover.analysis import intervals
from carryover.config.parameters import parameter
from carryover.errors import UserError

PENALTY = "1.2, Fig. 1a", "log₁₀ of a ratio of penalties"
EXPONENT = "1.2, Fig. 1b", "distance of exponents, with the sign changed"
NEW, SAME, LARGE = 0.01, 1.0, 100.0  # magnitudes in the auxiliary task of a feature that has about 1 in the main one


@dataclass(frozen=True, kw_only=True)
class Parameters:
    near: float = parameter(0.25, "distance of exponents that count as the same", above=0)


@intervals.claims(estimate=intervals.exact)
def check(data, p):
    """Role: `curve` of curves.relu_penalty, with cosines .9, .99 and 1 and auxiliary magnitudes .01, 1 and 100.

    Statistics are computed, not drawn. Raises UserError for a cosine or magnitude that the curve does not have.
    """
    curve = data["curve"]
    claims = [
        ("gap", "At cosine 1 a new unit (m_aux = 0.01) costs more than a used one (1) at every m at which both "
         f"exponents are within {p.near:g} of 1", _smallest_gap(curve, p.near), 0.0, *PENALTY),
        ("large_hurts", "At cosine 0.9 and m = 1 a large auxiliary feature (100) costs more than a small one (0.01)",
         _large_over_new(curve, 0.9), 0.0, *PENALTY),
        ("large_helps", "At cosine 1 and m = 1 a small auxiliary feature (0.01) costs more than a large one (100)",
         -_large_over_new(curve, 1.0), 0.0, *PENALTY),
    ]  # fmt: skip
    for magnitude in (NEW, SAME, LARGE):
        exponent = _at(_unit(curve, 0.99, magnitude), "magnitude", 1.0)["exponent"]
        statement = f"At cosine 0.99, m_aux = {magnitude:g} and m = 1 the exponent is within {p.near:g} of ℓ1's 1"
        claims.append((f"l1_like_{magnitude:g}", statement, -abs(exponent - 1), -p.near, *EXPONENT))
    small = curve["exponent"].isel(magnitude=0, correlation=curve["correlation"].values < 1)
    used = _at(small, "auxiliary_magnitude", SAME)
    statement = f"At cosines below 1, m_aux = 1 and m = {float(small['magnitude']):g} the exponent is below {p.near:g}"
    return [*claims, ("vanishes", statement, -used.max(), -p.near, *EXPONENT)]


def _smallest_gap(curve, near):
    """log₁₀ of the penalty of a new over that of a used unit, where it is smallest; NaN where no exponent is near 1."""
    new, used = (_unit(curve, 1.0, magnitude) for magnitude in (NEW, SAME))
    linear = (abs(new["exponent"] - 1) <= near) & (abs(used["exponent"] - 1) <= near)
    return np.log10(new["penalty"] / used["penalty"]).where(linear).min()


def _large_over_new(curve, cosine):
    large, new = (_at(_unit(curve, cosine, m), "magnitude", 1.0)["penalty"] for m in (LARGE, NEW))
    return np.log10(large / new)


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
