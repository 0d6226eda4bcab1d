"""What the penalty of moving a pretrained ReLU unit is like, curve by curve: "The implicit penalty", Fig. 1a and b."""

import numpy as np
import xarray as xr

from carryover.claims.support import checks
from carryover.errors import UserError
from carryover.statistics import intervals
from carryover.theory.norms import q_norm

NEAR = 0.25  # distance of exponents that count as the same
PENALTY = "1.2, Fig. 1a", "log₁₀ of a ratio of penalties"
EXPONENT = "1.2, Fig. 1b"
NEW, SAME, LARGE = 0.01, 1.0, 100.0  # magnitudes in the auxiliary task of a feature that has about 1 in the main one


@checks.group(estimate=intervals.exact)
def check(data, p):
    """Role: `curve` of curves.relu_penalty, with cosines .9, .99 and 1 and auxiliary magnitudes .01, 1 and 100.

    Statistics are computed, not drawn. Raises UserError for a cosine or magnitude that the curve does not have.
    """
    curve = data["curve"]
    like = "log–log slope, distance from 1 with the sign changed"
    claims = [
        ("large_hurts", "A unit that pretraining made 100 times too large costs more than a new one at cosine 0.9, and "
         "less at cosine 1", min(_log_ratio(curve, 0.9, LARGE, NEW), _log_ratio(curve, 1.0, NEW, LARGE)), 0.0,
         *PENALTY),
        ("comparable_helps", "At cosine 0.9 a unit that pretraining made as large as it must be costs less than a new "
         "one", _log_ratio(curve, 0.9, NEW, SAME), 0.0, *PENALTY),
    ]  # fmt: skip
    for cosine in (1.0, 0.99):
        relu = _at(curve, "correlation", cosine)
        diagonal = _diagonal(relu)
        gaps = [_smallest_gap(one, NEAR) for one in (relu, diagonal)]
        claims += [
            (f"gap_{cosine:g}", f"At cosine {cosine:g}, as in diagonal networks, a new unit costs more than one that "
             "pretraining has used, wherever the penalty of both is like ℓ1", min(gaps), 0.0, *PENALTY),
            (f"like_diagonal_{cosine:g}", f"At cosine {cosine:g} the penalty has the local exponent of that of "
             "diagonal networks, at every magnitude before and after finetuning",
             -abs(relu["exponent"] - diagonal["exponent"]).max(), -NEAR, EXPONENT,
             "largest difference of log–log slopes, with the sign changed"),
        ]  # fmt: skip
    return [
        *claims,
        *((name, f"At cosine {cosine:g} and m = 1 the penalty is like ℓ1 for a unit that both tasks use alike",
           -abs(_exponent(curve, cosine, SAME) - 1), -NEAR, EXPONENT, like)
          for name, cosine in (("l1_like_1", 0.99), ("l1_like_1_at_0.9", 0.9))),
    ]  # fmt: skip


def _diagonal(relu):
    """Q penalty (eq 22 of "Feature reuse …") and its exponent for the same magnitudes; readouts start at 0 here."""
    auxiliary, magnitude = relu["auxiliary_magnitude"], relu["magnitude"]
    penalty = xr.apply_ufunc(lambda m, c: q_norm(m[..., None], np.sqrt(c)[..., None], 0.0), magnitude, auxiliary)
    return xr.Dataset({"penalty": penalty, "exponent": 2 * magnitude * np.arcsinh(magnitude / auxiliary) / penalty})


def _exponent(curve, cosine, magnitude):
    """The log–log slope at m = 1."""
    return _at(_unit(curve, cosine, magnitude), "magnitude", 1.0)["exponent"]


def _smallest_gap(curve, near):
    """log₁₀ of the penalty of a new over that of a used unit, where it is smallest; NaN where no exponent is near 1."""
    new, used = (_at(curve, "auxiliary_magnitude", magnitude) for magnitude in (NEW, SAME))
    linear = (abs(new["exponent"] - 1) <= near) & (abs(used["exponent"] - 1) <= near)
    return float(np.log10(new["penalty"] / used["penalty"]).where(linear).min())


def _log_ratio(curve, cosine, over, under):
    """log₁₀ of the ratio of the penalties of units that pretraining left with two magnitudes, at m = 1."""
    one, other = (_at(_unit(curve, cosine, m), "magnitude", 1.0)["penalty"] for m in (over, under))
    return float(np.log10(one / other))


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
