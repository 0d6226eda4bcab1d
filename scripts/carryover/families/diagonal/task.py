"""Tasks of diagonal linear networks, and the problem that a stage hands to its solver."""

from dataclasses import dataclass, replace

import numpy as np

from carryover.config.parameters import parameter
from carryover.errors import UserError
from carryover.networks.diagonal import Weights
from carryover.streams import generator
from carryover.tasks import sparse

SIMULATED = {"solver": ("flow", "descent")}


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The task's, which pretraining and finetuning share."""

    dimension: int = parameter(1000, "input dimensions D; inputs lie on the sphere of radius √D", minimum=1)
    auxiliary_features: int = parameter(40, "active dimensions of the auxiliary task", minimum=1)
    auxiliary_norm: str = parameter("l2", "its coefficients are ±1/√k (l2) or ±1/k (l1)", choices=("l1", "l2"))


@dataclass(frozen=True, kw_only=True)
class Training(Parameters):
    """What each of the two stages says for itself."""

    loss: str = parameter("squared", "what gradient descent minimises; cross_entropy learns the signs of the targets",
                          choices=("squared", "cross_entropy"), when={"solver": ("descent",)})  # fmt: skip
    normalised: bool = parameter(False, "divide steps on cross-entropy by L max(1, log 1/L) of the training loss L: "
                                 "the margin grows by a share of itself", when={"solver": ("descent",)})  # fmt: skip
    tolerance: float = parameter(1e-10, "training loss at which training stops", above=0, when=SIMULATED)
    max_steps: int = parameter(1_000_000, "most gradient evaluations of a network", minimum=1, when=SIMULATED)
    accuracy: float = parameter(0.02, "error of one step of the adaptive flow in the logarithm of any weight", above=0,
                                when={"solver": ("flow",)})  # fmt: skip
    max_time: float = parameter(0.0, "flow time at which training stops in any case, steps times learning rate of "
                                "gradient descent; 0 for no limit", minimum=0, when={"solver": ("flow",)})  # fmt: skip
    device: str = parameter("auto", "where it is trained", choices=("auto", "cpu", "cuda"), when=SIMULATED)


@dataclass(frozen=True)
class Problem:
    """An ensemble of networks to be trained: `draw[r]` is the data set of run r, each output has inputs of its own."""

    X: list  # per output: (draws, samples, D)
    y: list  # per output: (draws, samples)
    draw: np.ndarray  # (runs,)
    start: Weights  # first layers (runs, D), readouts (runs, outputs, D)
    teacher: np.ndarray  # (runs, D), of output 0
    trainable: tuple = ("first", "second")
    weights: tuple | None = None  # per output, of its mean loss; None: 1

    def subset(self, runs):
        """The same problem for some of its runs."""
        start = Weights(*(getattr(self.start, name)[runs] for name in Weights.__dataclass_fields__))
        return replace(self, draw=self.draw[runs], start=start, teacher=self.teacher[runs])


def auxiliary_teacher(p, experiment, seed):
    """(order, signs, coefficients) of the auxiliary task of a seed: one for all conditions of an experiment."""
    rng = generator(experiment, "", seed, "teacher")
    return sparse.auxiliary_teacher(rng, p.dimension, p.auxiliary_features, p.auxiliary_norm)


def auxiliary_data(p, experiment, seed, samples):
    """Inputs (samples, D) and targets (samples,) of the auxiliary task."""
    X = sparse.sphere(generator(experiment, "", seed, "auxiliary inputs"), samples, p.dimension)
    return X, X @ auxiliary_teacher(p, experiment, seed)[2]


def small_weights(runs, outputs, dimension, scale):
    """All four weight vectors at one scale, or at one per run, as at the start of every training from scratch."""
    scales = np.broadcast_to(np.asarray(scale, dtype=float), runs)
    first = np.repeat(scales[:, None], dimension, axis=1)
    second = np.repeat(first[:, None], outputs, axis=1)
    return Weights(first, first.copy(), second, second.copy())


def targets(p, output):
    """What a stage trains on, given the teacher's output: that itself, or its sign where loss is cross_entropy.

    UserError for cross-entropy with a solver that minimises the squared error.
    """
    if p.loss == "squared":
        return output
    if p.solver != "descent":
        raise UserError(f"solver {p.solver} minimises the squared error: choose solver descent for loss {p.loss}.")
    return np.where(output < 0, -1.0, 1.0)
