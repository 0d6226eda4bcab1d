"""Theory curve: the penalty on recruiting a pretrained ReLU unit, and its local exponent, against the feature's size.

"The implicit penalty of finetuning in ReLU networks", figures 1a and 1b.
"""

from typing import Any

import numpy as np
import xarray as xr

from carryover.errors import UserError
from carryover.labels import described
from carryover.theory.penalty import relu_penalty, relu_penalty_exponent


def compute(p: Any) -> xr.Dataset:
    """Penalty and exponent, both (correlation, auxiliary_magnitude, magnitude) and dimensionless.

    Equation 11 of the paper; the pretrained input weights have the norm √auxiliary_magnitude (section 1.2). The
    exponent is NaN where the penalty is 0 (correlation 1, magnitude = readout · √auxiliary_magnitude).
    Raises UserError where `largest_magnitude` does not exceed `smallest_magnitude`, or a value is out of its range.
    """
    if p.largest_magnitude <= p.smallest_magnitude:
        raise UserError(f"largest_magnitude must exceed smallest_magnitude, which is {p.smallest_magnitude}")
    if min(p.auxiliary_magnitude) < 0:
        raise UserError("auxiliary_magnitude must not be negative: its square root is the norm of the input weights")
    correlation, auxiliary = np.array(p.correlation, float), np.array(p.auxiliary_magnitude, float)
    magnitude = np.geomspace(p.smallest_magnitude, p.largest_magnitude, p.points)
    unit = (magnitude, np.sqrt(auxiliary)[:, None], correlation[:, None, None], p.readout)
    dims = ("correlation", "auxiliary_magnitude", "magnitude")
    return described(
        {
            "penalty": (dims, relu_penalty(*unit), "penalty on the distance from the pretrained unit"),
            "exponent": (dims, relu_penalty_exponent(*unit), "local exponent d log penalty / d log magnitude"),
        },
        {
            "correlation": (correlation, "cosine of pretrained and finetuned input weights"),
            "auxiliary_magnitude": (auxiliary, "magnitude of the feature in the auxiliary task"),
            "magnitude": (magnitude, "magnitude of the feature in the finetuning task"),
        },
    )
