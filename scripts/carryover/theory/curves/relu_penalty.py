"""Theory curve: the penalty on recruiting a pretrained ReLU unit, and its local exponent, against the feature's size.

"The implicit penalty of finetuning in ReLU networks", figures 1a and 1b, and the penalty of a diagonal network, with
which section 1.2 compares it.
"""

from typing import Annotated

import numpy as np
from pydantic import Field, NonNegativeFloat

from carryover.config import plugins
from carryover.config.parameters import Model, Several, parameter
from carryover.labels import make_dataset
from carryover.theory import penalty
from carryover.theory.norms import q_norm

READOUT = 1e-3  # where the papers' networks start to finetune


class ReluPenalty(Model):
    """The units for which the curve is drawn."""

    correlation: tuple[Annotated[float, Field(ge=-1, le=1)], ...] = parameter(
        (0.0, 0.5, 0.9, 0.99, 1.0), "cosines between pretrained and finetuned input weights")  # fmt: skip
    auxiliary_magnitude: tuple[NonNegativeFloat, ...] = parameter(
        (0.01, 1.0, 100.0), "coefficients of the feature in the auxiliary task")  # fmt: skip
    points: Several = parameter(301, "magnitudes, evenly spaced in their logarithm")


@plugins.curve()
def relu_penalty(p: ReluPenalty):
    """Penalty and exponent, both (correlation, auxiliary_magnitude, magnitude) and dimensionless.

    Equation 11 of the paper; the pretrained input weights have the norm √auxiliary_magnitude (section 1.2). The
    readout starts at 0, or, where stationary points are counted, at `READOUT`. For comparison there are the penalty of
    a diagonal network and its exponent (auxiliary_magnitude, magnitude): the penalty Q(β), equation 22 of "Feature
    reuse in multi-task learning and finetuning", has the slope 2 arcsinh(β/auxiliary_magnitude).
    """
    correlation, auxiliary = np.array(p.correlation, float), np.array(p.auxiliary_magnitude, float)
    magnitude, by_auxiliary = np.geomspace(1e-3, 1e3, p.points), auxiliary[:, None]
    unit = (magnitude, np.sqrt(by_auxiliary), correlation[:, None, None], 0.0)
    diagonal = q_norm(magnitude[:, None], np.sqrt(by_auxiliary[..., None]), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):  # what has no weight at the start cannot move
        slope = 2 * np.arcsinh(magnitude / by_auxiliary)
        diagonal_exponent = magnitude * slope / diagonal
    dims = ("correlation", "auxiliary_magnitude", "magnitude")
    return make_dataset(
        {
            "penalty": (dims, penalty.relu_penalty(*unit), "penalty on the distance from the pretrained unit"),
            "exponent": (dims, penalty.relu_penalty_exponent(*unit), "local exponent d log penalty / d log magnitude"),
            "stationary_points": (dims, penalty.stationary_points(*unit[:3], READOUT), "positive roots of equation 10"),
            "diagonal_penalty": (dims[1:], diagonal, "Q penalty of a diagonal network's coefficient"),
            "diagonal_exponent": (dims[1:], diagonal_exponent, "local exponent d log Q / d log magnitude"),
        },
        {
            "correlation": (correlation, "cosine of pretrained and finetuned input weights"),
            "auxiliary_magnitude": (auxiliary, "magnitude of the feature in the auxiliary task"),
            "magnitude": (magnitude, "magnitude of the feature in the finetuning task"),
        },
    )
