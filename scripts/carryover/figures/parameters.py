"""What can be set of each figure, and the data that it reads."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from carryover.config.parameters import Model, parameter


class Titled(Model):
    title: str = parameter("", "what is seen; none if empty")


class Atlas(Titled):
    settings: NonNegativeInt = parameter(0, "maps of each family, by settings such as the noise; 0: the usual one")
    largest: PositiveFloat = parameter(1.0, "gain, log₁₀ of a ratio of risks, at which colours end")


class BoundCorrelations(Titled):
    ROLES: ClassVar = ("bounds", "published")
    samples: PositiveInt = parameter(10, "images of the target task in the lower panels")


class Claims(Titled):
    ROLES: ClassVar = ("claims",)
    paper: str = parameter("", "name of the paper whose claims are drawn; empty for all")


class Clusters(Titled):
    OPTIONAL_ROLES: ClassVar = ("regimes", "overlap", "nested")
    samples: PositiveInt = parameter(64, "main-task samples of the inertias by overlap")
    unit_correlations: tuple[str, ...] = parameter((), "lists of cosines by which they are shown; empty for all")
    nested_samples: tuple[PositiveInt, ...] = parameter((), "main-task samples of panels over rescalings; empty: all")
    main_features: PositiveInt = parameter(1, "teacher units of the nested task that is shown")
    auxiliary_features: PositiveInt = parameter(
        6, "teacher units of the auxiliary task, which tell how many features both tasks have")  # fmt: skip
    only: tuple[str, ...] = parameter((), "conditions on the runs of every role, as coordinate=value")


class ConvnetControls(Titled):
    ROLES: ClassVar = ("risk", "trajectory")
    learning_rate: PositiveFloat = parameter(0.01, "step of gradient descent where it is not compared")
    samples: PositiveInt = parameter(8, "training images of the task")


class ConvnetRescaling(Titled):
    rescale: PositiveFloat = parameter(0.5, "factor on the weights that is compared with no rescaling")


class CovarianceBound(Titled):
    ROLES: ClassVar = ("curve",)


class CrossEntropy(Titled):
    OPTIONAL_ROLES: ClassVar = ("diagonal", "relu")
    fitted: PositiveFloat = parameter(
        0.3, "training loss from which on a run is compared with others by its margin over scale²")  # fmt: skip


class DatasetDistances(Titled):
    ROLES: ClassVar = ("diagram", "risk", "distances")


class DiagonalSolutions(Titled):
    ROLES: ClassVar = ("norms", "sparsity", "rescaled")
    samples: PositiveInt = parameter(64, "samples of the solutions whose sparsity is shown over overlaps")


class Dimensionality(Titled):
    OPTIONAL_ROLES: ClassVar = ("regimes", "overlap", "nested")
    nested_samples: tuple[PositiveInt, ...] = parameter((), "main-task samples of panels over rescalings; empty: all")
    main_features: PositiveInt = parameter(1, "teacher units of the nested task that is shown")
    only: tuple[str, ...] = parameter((), "conditions on the runs of every role, as coordinate=value")


class EndlessTraining(Titled):
    ROLES: ClassVar = ("trajectory",)
    most: PositiveFloat = parameter(130.0, "largest margin shown")


class Facets(Titled):
    ROLES: ClassVar = ("risk",)
    y: str = parameter("risk_final", "variable of the runs on the vertical axis")
    x: str = parameter("samples", "coordinate of the horizontal axis, which is logarithmic")
    column: str = parameter("overlap", "coordinate of the columns of panels")
    row: str = parameter("", "coordinate of the rows of panels, or `layers`: those trained; empty for one row")
    hue: tuple[str, ...] = parameter(("protocol",), "coordinates of the curves")
    shown: tuple[str, ...] = parameter((), "values of the first of these that are drawn; empty for all")
    names: tuple[str, ...] = parameter((), "what the curves are called, in their order; empty for what they are")
    apart: NonNegativeFloat = parameter(
        0.0, "by how many octaves neighbouring curves are moved apart, with bars for bands")  # fmt: skip
    relative_to: str = parameter("", "coordinate by whose square risks are divided; empty for none")
    only: tuple[str, ...] = parameter((), "conditions on the runs shown, as coordinate=value")
    panel: Annotated[float, Field(gt=0, le=20)] = parameter(2.1, "width of a panel", unit="inches")
    markers: bool = parameter(False, "what was trained is drawn as markers over the lines of exact limits")
    floor: PositiveFloat = parameter(1e-10, "smallest value shown: below it lies what the stopping loss sets")


class FrozenLayer(Titled):
    ROLES: ClassVar = ("risk", "layers")


class GaussianBounds(Titled):
    ROLES: ClassVar = ("curve",)


class LinearAgreement(Titled):
    ROLES: ClassVar = ("coefficients", "risk")


class MeanFieldAnchor(Titled):
    ROLES: ClassVar = ("risk", "gram")


class MeanFieldTransfer(Titled):
    ROLES: ClassVar = ("risk", "gram", "out_of_rkhs")
    smallest: PositiveInt = parameter(64, "fewest samples that the power law is fitted to")


class NormFactor(Titled):
    ROLES: ClassVar = ("risk", "theory")


class NormScale(Titled):
    ROLES: ClassVar = ("risk",)


class NtkBound(Titled):
    ROLES: ClassVar = ("bound",)


class PretrainedRescaling(Titled):
    ROLES: ClassVar = ("pairs", "sets", "sizes")
    rescale: PositiveFloat = parameter(0.5, "factor on the weights that is compared with no rescaling in c")


class PublishedRisk(Titled):
    ROLES: ClassVar = ("published",)
    OPTIONAL_ROLES: ClassVar = ("overlap", "nested", "correlation_magnitude")
    family: Literal["diagonal", "relu"] = parameter("diagonal", "whose published risks")
    floor: PositiveFloat = parameter(1e-8, "published risks below are left out: there the stopping loss sets them")


class RegularisedScratch(Titled):
    ROLES: ClassVar = ("risk",)


class ReluDisplacement(Titled):
    ROLES: ClassVar = ("overlap", "nested", "magnitude", "risk")
    samples: tuple[PositiveInt, ...] = parameter((128, 256, 512), "main-task samples of the risks that are predicted")


class ReluLeastPenalty(Titled):
    ROLES: ClassVar = ("least", "spread")
    unfitted: PositiveFloat = parameter(1e-4, "share of the targets' mean square up to which samples count as fitted")
    floor: PositiveFloat = parameter(1e-4, "share of the teacher's mean square below which risks are drawn as that")


class ReluNorms(Titled):
    ROLES: ClassVar = ("norms", "displacement", "regimes")


class ReluPenalty(Titled):
    ROLES: ClassVar = ("curve",)
    quantity: Literal["penalty", "exponent"] = parameter("penalty", "the penalty itself, or d log r / d log m")


class RidgeTransfer(Titled):
    ROLES: ClassVar = ("risk",)
    gamma: PositiveFloat = parameter(0.5, "the paper's samples per dimension, of panel a")


class SolverAgreement(Titled):
    ROLES: ClassVar = ("coefficients", "trajectory", "risk", "relu")
    samples: PositiveInt = parameter(32, "samples of the run whose training is shown")


class StageDimensionality(Titled):
    ROLES: ClassVar = ("stages", "risk")


class TeacherSensitivity(Titled):
    ROLES: ClassVar = ("stretch", "scale")


class TransferDiagram(Titled):
    ROLES: ClassVar = ("risk", "theory")
    protocol: Literal["linear_transfer", "finetuning"] = parameter(
        "linear_transfer", "what is compared with training from scratch")  # fmt: skip
    noise: NonNegativeFloat = parameter(0.2, "standard deviation of the label noise")
    largest: PositiveFloat = parameter(1.0, "transferability at which surface, maps and slices end")
