"""What can be set of each theory curve."""

from typing import Annotated, Literal

from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt

from carryover.config.parameters import Fraction, Model, parameter

Several = Annotated[int, Field(ge=2)]


class CovarianceBound(Model):
    instances: Several = parameter(2000, "random problems; the constants are fitted on half of them")


class DiagonalRisk(Model):
    """The tasks, as in experiments with diagonal networks."""

    dimension: Several = parameter(200, "input dimensions D")
    auxiliary_features: PositiveInt = parameter(8, "active dimensions of the auxiliary task, ±1/√k each")
    main_features: tuple[PositiveInt, ...] = parameter((8,), "active dimensions k of the main task")
    main_norm: Literal["l1", "l2"] = parameter("l2", "its coefficients are ±1/√k (l2) or ±1/k (l1)")
    overlap: tuple[Fraction, ...] = parameter((0.0, 0.5, 0.75, 1.0), "share of them that the auxiliary task has")
    samples: tuple[PositiveInt, ...] = parameter((4, 8, 16, 32, 64, 128), "main-task samples n, fewer than D")
    rescale: tuple[PositiveFloat, ...] = parameter((1.0,), "factor on all weights before training, from scratch too")


class DiagonalNestedRisk(DiagonalRisk):
    """The tasks, as in experiments with nested tasks of diagonal networks."""


class GaussianBounds(Model):
    dimension: tuple[Several, ...] = parameter((40, 160), "input dimensions d")
    gamma: tuple[Annotated[float, Field(gt=0, le=1)], ...] = parameter(
        (0.1, 0.25, 0.5, 0.75), "samples per input dimension n/d")  # fmt: skip
    draws: Several = parameter(200, "random inputs of each dimension and number of samples")


class ReluPenalty(Model):
    """The units for which the curve is drawn."""

    correlation: tuple[Annotated[float, Field(ge=-1, le=1)], ...] = parameter(
        (0.0, 0.5, 0.9, 0.99, 1.0), "cosines between pretrained and finetuned input weights")  # fmt: skip
    auxiliary_magnitude: tuple[NonNegativeFloat, ...] = parameter(
        (0.01, 1.0, 100.0), "coefficients of the feature in the auxiliary task")  # fmt: skip
    points: Several = parameter(301, "magnitudes, evenly spaced in their logarithm")


class TransferDistances(Model):
    """The targets, κ times the source turned by an angle, and the samples from which distances are estimated."""

    angle: tuple[Fraction, ...] = parameter(
        (0.0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0), "angles θ between source and target [π]")  # fmt: skip
    target_norm: tuple[PositiveFloat, ...] = parameter((0.5, 1.0, 2.0), "norms κ of the target; the source's is 1")
    noise: NonNegativeFloat = parameter(0.2, "standard deviation σ of the label noise")
    gamma: PositiveFloat = parameter(0.5, "samples of the target per input dimension, γ = n/d")
    depth: PositiveInt = parameter(1, "layers; 1 keeps the norm outside the data, as eq 15 does")
    samples: PositiveInt = parameter(150, "points of each task between which distances are found")
    repeats: PositiveInt = parameter(3, "draws of these points")


class Transferability(Model):
    """Noise and depth, and how many angles and samples per dimension the surfaces are drawn at."""

    noise: tuple[NonNegativeFloat, ...] = parameter((0.0, 0.2, 0.5), "standard deviations σ of the label noise")
    depth: tuple[PositiveInt, ...] = parameter((1, 2, 3), "layers; 1 keeps the norm outside the data, as eq 15 does")
    angles: Several = parameter(101, "angles from 0 to π/2, evenly spaced")
    points: Several = parameter(200, "values of γ from 0.005 to 1.995, evenly spaced")
