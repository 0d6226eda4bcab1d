"""What can be set of each theory curve."""

from typing import Annotated, Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from carryover.config.parameters import Fraction, Model, parameter


class CovarianceBound(Model):
    """The random instances, and the spectrum for which the terms are drawn against n: that of the paper's figure 1."""

    instances: Annotated[int, Field(ge=2)] = parameter(
        2000, "random problems; the constants are fitted on half of them")  # fmt: skip
    smallest_dimension: Annotated[int, Field(ge=4)] = parameter(30, "fewest input dimensions d of an instance")
    largest_dimension: Annotated[int, Field(ge=4)] = parameter(60, "most input dimensions")
    confidence: Annotated[float, Field(ge=1)] = parameter(3.0, "δ: the bound is to hold with probability 1 − exp(−δ)")
    samples: tuple[PositiveInt, ...] = parameter(
        (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000), "numbers n at which the two terms are drawn")  # fmt: skip
    dimension: Annotated[int, Field(ge=2)] = parameter(1000, "input dimensions of the spectrum for the terms")
    top: PositiveInt = parameter(50, "eigenvalues of it that are large, the m of the terms")
    top_eigenvalue: PositiveFloat = parameter(1.5, "the large eigenvalues")
    bottom_eigenvalue: PositiveFloat = parameter(0.3, "the others")
    seed: NonNegativeInt = parameter(0, "which instances")


class DiagonalRisk(Model):
    """The tasks and the starts, as in experiments with diagonal networks."""

    dimension: Annotated[int, Field(ge=2)] = parameter(200, "input dimensions D")
    auxiliary_features: PositiveInt = parameter(8, "active dimensions of the auxiliary task, ±1/√k each")
    main_features: tuple[PositiveInt, ...] = parameter((8,), "active dimensions k of the main task")
    main_norm: Literal["l1", "l2"] = parameter("l2", "its coefficients are ±1/√k (l2) or ±1/k (l1)")
    overlap: tuple[Fraction, ...] = parameter((0.0, 0.5, 0.75, 1.0), "share of them that the auxiliary task has")
    samples: tuple[PositiveInt, ...] = parameter((4, 8, 16, 32, 64, 128), "main-task samples n, fewer than D")
    rescale: tuple[PositiveFloat, ...] = parameter((1.0,), "factor on all weights before training, from scratch too")
    initial_scale: PositiveFloat = parameter(1e-3, "weights from which training from scratch starts")
    readout_scale: PositiveFloat = parameter(1e-3, "readout γ after pretraining")


class DiagonalNestedRisk(DiagonalRisk):
    """The tasks and the starts, as in experiments with nested tasks of diagonal networks."""

    auxiliary_features: PositiveInt = parameter(16, "active dimensions of the auxiliary task, ±1/√k each")
    main_features: tuple[PositiveInt, ...] = parameter((4,), "active dimensions k of the main task")
    main_norm: Literal["l1", "l2"] = parameter("l1", "its coefficients are ±1/√k (l2) or ±1/k (l1)")
    overlap: tuple[Fraction, ...] = parameter((0.0, 1.0), "share of them that the auxiliary task has")
    samples: tuple[PositiveInt, ...] = parameter((4, 8, 16, 32, 64), "main-task samples n, fewer than D")
    rescale: tuple[PositiveFloat, ...] = parameter((1.0, 0.1, 0.01, 0.001), "factor on all weights before training")


class GaussianBounds(Model):
    """Targets have norm 1: what matters is the ratio of the norms, and all risks and bounds grow with its square."""

    dimension: tuple[Annotated[int, Field(ge=2)], ...] = parameter((40, 160), "input dimensions d")
    gamma: tuple[Annotated[float, Field(gt=0, le=1)], ...] = parameter(
        (0.1, 0.25, 0.5, 0.75), "samples per input dimension n/d")  # fmt: skip
    source_norm: tuple[PositiveFloat, ...] = parameter((0.25, 1.0, 4.0), "norms of the source")
    angle: tuple[Annotated[float, Field(gt=0, le=1)], ...] = parameter(
        (0.0625, 0.125, 0.25, 0.5), "angles between the tasks", unit="π")  # fmt: skip
    depth: tuple[PositiveInt, ...] = parameter((2, 7), "layers of networks between one and endlessly many")
    epsilon: tuple[NonNegativeFloat, ...] = parameter((0.0, 0.1, 0.2, 0.4), "ε of the bounds; at 0 they are means")
    draws: Annotated[int, Field(ge=2)] = parameter(200, "random inputs of each dimension and number of samples")
    seed: NonNegativeInt = parameter(0, "which inputs")


class ReluPenalty(Model):
    """The units, and the magnitudes at which the curve is drawn."""

    correlation: tuple[Annotated[float, Field(ge=-1, le=1)], ...] = parameter(
        (0.0, 0.5, 0.9, 0.99, 1.0), "cosines between pretrained and finetuned input weights")  # fmt: skip
    auxiliary_magnitude: tuple[NonNegativeFloat, ...] = parameter(
        (0.01, 1.0, 100.0), "coefficients of the feature in the auxiliary task")  # fmt: skip
    readout: float = parameter(0.0, "readout weight at the start of finetuning")
    smallest_magnitude: PositiveFloat = parameter(1e-3, "smallest coefficient of the feature in the finetuning task")
    largest_magnitude: PositiveFloat = parameter(1e3, "largest coefficient of the feature in the finetuning task")
    points: Annotated[int, Field(ge=2)] = parameter(301, "magnitudes, evenly spaced in their logarithm")


class TransferDistances(Model):
    """The targets, κ times the source turned by an angle, and the samples from which distances are estimated."""

    angle: tuple[Fraction, ...] = parameter(
        (0.0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0), "angles θ between source and target",
        unit="π")  # fmt: skip
    target_norm: tuple[PositiveFloat, ...] = parameter((0.5, 1.0, 2.0), "norms κ of the target; the source's is 1")
    noise: NonNegativeFloat = parameter(0.2, "standard deviation σ of the label noise")
    gamma: PositiveFloat = parameter(0.5, "samples of the target per input dimension, γ = n/d")
    depth: PositiveInt = parameter(1, "layers; 1 keeps the norm outside the data, as eq 15 does")
    samples: PositiveInt = parameter(150, "points of each task between which distances are found")
    repeats: PositiveInt = parameter(3, "draws of these points")
    seed: NonNegativeInt = parameter(0, "which draws")


class Transferability(Model):
    """Noise and depth, and the grid of samples per dimension and angles on which the surfaces are drawn."""

    noise: tuple[NonNegativeFloat, ...] = parameter((0.0, 0.2, 0.5), "standard deviations σ of the label noise")
    depth: tuple[PositiveInt, ...] = parameter((1, 2, 3), "layers; 1 keeps the norm outside the data, as eq 15 does")
    smallest_angle: Fraction = parameter(0.0, "smallest angle θ between the tasks", unit="π")
    largest_angle: Fraction = parameter(0.5, "largest angle", unit="π")
    angles: Annotated[int, Field(ge=2)] = parameter(101, "angles, evenly spaced")
    smallest_gamma: PositiveFloat = parameter(0.005, "fewest samples per input dimension, γ = n/d")
    largest_gamma: PositiveFloat = parameter(1.995, "most samples per input dimension")
    points: Annotated[int, Field(ge=2)] = parameter(200, "values of γ, evenly spaced")
