"""What the penalty of moving a pretrained ReLU unit is like, curve by curve: "The implicit penalty", Fig. 1a and b."""

import numpy as np
import xarray as xr

from carryover.claims.support.checks import checks
from carryover.errors import UserError
from carryover.statistics import intervals
from carryover.theory.norms import q_norm

NEAR = 0.25  # distance of exponents that count as the same
NEW, SAME, LARGE = 0.01, 1.0, 100.0  # magnitudes in the auxiliary task of a feature that has about 1 in the main one


def check(data, p):
    """Role: `curve` of curves.relu_penalty, with cosines .9, .99 and 1 and auxiliary magnitudes .01, 1 and 100.

    Statistics are computed, not drawn. Raises UserError for a cosine or magnitude that the curve does not have.
    """
    curve = data["curve"]

    def at_one(quantity, cosine, auxiliary):
        """A quantity of the unit that pretraining left with a magnitude, at m = 1."""
        return float(_at(curve, correlation=cosine, auxiliary_magnitude=auxiliary, magnitude=1.0)[quantity])

    def log_ratio(cosine, over, under):
        return np.log10(at_one("penalty", cosine, over) / at_one("penalty", cosine, under))

    found = checks({
        "large_hurts": min(log_ratio(0.9, LARGE, NEW), log_ratio(1.0, NEW, LARGE)),
        "comparable_helps": log_ratio(0.9, NEW, SAME),
        "l1_like_1": -abs(at_one("exponent", 0.99, SAME) - 1),
        "l1_like_1_at_0.9": -abs(at_one("exponent", 0.9, SAME) - 1),
    }, intervals.exact)  # fmt: skip
    for cosine in (1.0, 0.99):
        relu = _at(curve, correlation=cosine)
        diagonal = _diagonal(relu)
        values = {
            f"gap_{cosine:g}": min(_smallest_gap(relu), _smallest_gap(diagonal)),
            f"like_diagonal_{cosine:g}": -abs(relu["exponent"] - diagonal["exponent"]).max(),
        }
        found |= checks(values, intervals.exact, cosine=cosine)
    return found


def _diagonal(relu):
    """Q penalty (eq 22 of "Feature reuse …") and its exponent for the same magnitudes; readouts start at 0 here."""
    auxiliary, magnitude = relu["auxiliary_magnitude"], relu["magnitude"]
    penalty = xr.apply_ufunc(lambda m, c: q_norm(m[..., None], np.sqrt(c)[..., None], 0.0), magnitude, auxiliary)
    return xr.Dataset({"penalty": penalty, "exponent": 2 * magnitude * np.arcsinh(magnitude / auxiliary) / penalty})


def _smallest_gap(curve):
    """log₁₀ of the penalty of a new over that of a used unit, where it is smallest; NaN where no exponent is near 1."""
    new, used = (_at(curve, auxiliary_magnitude=magnitude) for magnitude in (NEW, SAME))
    linear = (abs(new["exponent"] - 1) <= NEAR) & (abs(used["exponent"] - 1) <= NEAR)
    return float(np.log10(new["penalty"] / used["penalty"]).where(linear).min())


def _at(curve, **place):
    """The curve at values of coordinates, to a tenth of a per cent; UserError where it has none there."""
    for name, value in place.items():
        values = curve[name].values
        nearest = np.abs(values - value).argmin()
        if not np.isclose(values[nearest], value, rtol=1e-3):
            raise UserError(f"this claim needs {name} {value:g} of the role curve; the nearest is {values[nearest]:g}.")
        curve = curve.isel({name: nearest})
    return curve
