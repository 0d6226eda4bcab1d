"""Theory curves: risk of diagonal linear networks from scratch and after finetuning, for many samples and dimensions.

"Feature reuse in multi-task learning and finetuning (appendix)", the tasks of its Fig. 1 and 5; the paper has no such
formula. Flows end at the interpolating function of least penalty, and its risk is that of `theory.interpolation`.
"""

from typing import Literal

import numpy as np
from pydantic import PositiveFloat, PositiveInt

from carryover.config import plugins
from carryover.config.parameters import Fraction, Model, Several, parameter
from carryover.errors import UserError
from carryover.labels import make_dataset
from carryover.theory.interpolation import interpolation_risk

_SMALL = 1e-3  # weights from which training from scratch starts, and the readout after pretraining
_LINEAR = 1e8  # factor on the squares of weights from which on the penalty is that of a readout alone, Σ β²/w²


class DiagonalRisk(Model):
    """The tasks, as in experiments with diagonal networks."""

    dimension: Several = parameter(200, "input dimensions D")
    auxiliary_features: PositiveInt = parameter(8, "active dimensions of the auxiliary task, ±1/√k each")
    main_features: tuple[PositiveInt, ...] = parameter((8,), "active dimensions k of the main task")
    main_norm: Literal["l1", "l2"] = parameter("l2", "its coefficients are ±1/√k (l2) or ±1/k (l1)")
    overlap: tuple[Fraction, ...] = parameter((0.0, 0.5, 0.75, 1.0), "share of them that the auxiliary task has")
    samples: tuple[PositiveInt, ...] = parameter((4, 8, 16, 32, 64, 128), "main-task samples n, fewer than D")
    rescale: tuple[PositiveFloat, ...] = parameter((1.0,), "factor on all weights before training, from scratch too")


@plugins.curve()
def diagonal_risk(p: DiagonalRisk):
    """Risks over rescale, main_features, overlap and samples, after pretraining that has learned its task exactly.

    Raises UserError where the samples are not fewer than the dimensions.
    """
    if max(p.samples) >= p.dimension:
        raise UserError(f"samples must be fewer than dimension, which is {p.dimension}, not {max(p.samples)}")
    axes = [np.array(values, float) for values in (p.rescale, p.main_features, p.overlap, p.samples)]
    rescale, k, overlap, samples = np.meshgrid(*axes, indexing="ij")
    shared, size = overlap * k, k ** {"l1": -1.0, "l2": -0.5}[p.main_norm]
    # Kinds of dimensions, on the last axis: active in both tasks, in the main one, in the auxiliary one, in none.
    counts = np.stack([shared, k - shared, p.auxiliary_features - shared,
                       p.dimension - p.auxiliary_features - k + shared], axis=-1)  # fmt: skip
    beta = np.stack([size, size, 0 * size, 0 * size], axis=-1)  # of the main task
    learned = np.array([True, False, True, False])  # in pretraining
    # A and B of `norms.flow_penalty`, before `rescale`: of new weights, and of pretrained ones. A dimension that has
    # learned has first-layer weights √|β| on one of its paths and a small readout; the other path is neglected.
    fresh, first = _SMALL**2, p.auxiliary_features**-0.25
    up, down = (np.where(learned, ((first + sign * _SMALL) / 2) ** 2, fresh) for sign in (1, -1))
    squares = _LINEAR * np.where(learned, first**2, 2 * fresh)
    factor = rescale[..., None] ** 2
    starts = {
        "single_task": (fresh, fresh, "risk from scratch"),
        "finetuning": (up, down, "risk after finetuning"),
        "finetuning_probe": (squares, squares, "risk of a readout alone on the pretrained features"),
    }
    dims = ("rescale", "main_features", "overlap", "samples")
    return make_dataset(
        {name: (dims, interpolation_risk(samples, counts, beta, factor * up, factor * down), meaning)
         for name, (up, down, meaning) in starts.items()},
        {
            "rescale": (axes[0], "factor on all weights before training"),
            "main_features": (np.array(p.main_features), "active dimensions of the main task"),
            "overlap": (axes[2], "share of them that the auxiliary task has"),
            "samples": (np.array(p.samples), "main-task samples"),
        },
    )  # fmt: skip


@plugins.curve()
def diagonal_nested_risk(p: DiagonalRisk):
    """The same for nested tasks, by the factor on the weights before finetuning."""
    return diagonal_risk(p)
