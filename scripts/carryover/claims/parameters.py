"""What can be set of each group of claims, and the data that it reads."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from carryover.config.parameters import Fraction, Model, parameter


class AlignedTeachers(Model):
    ROLES: ClassVar = ("risk",)

    exponent: PositiveFloat = parameter(1.5, "power of the depth that the risk falls at least with")


class BoundCorrelations(Model):
    ROLES: ClassVar = ("bounds",)

    strong: Fraction = parameter(0.5, "R² above which a correlation counts as strong")
    images: str = parameter("scikit-learn's digits", "whose classes the pairs are of, in words")


class ConvnetRescaling(Model):
    rescale: PositiveFloat = parameter(0.5, "factor on the weights that is compared with no rescaling")
    small: Annotated[float, Field(gt=0, le=1)] = parameter(
        0.01, "share of test images from which on there is a gain or a loss")  # fmt: skip


class ConvnetStages(Model):
    ROLES: ClassVar = ("stages",)

    stages: tuple[str, ...] = parameter(("layer3", "layer4"), "stages that the claims are about, each for itself")
    change: Annotated[float, Field(gt=0, le=1)] = parameter(
        0.1, "relative change of a dimensionality from which on it counts")  # fmt: skip
    near: PositiveFloat = parameter(0.2, "relative distance of ENSD from PR up to which they count as the same")


class CovarianceBound(Model):
    ROLES: ClassVar = ("curve",)

    blocks: Annotated[int, Field(ge=2)] = parameter(20, "blocks of instances that statistics are means over")
    orders: Fraction = parameter(0.5, "rank correlation from which on a bound orders the risk")


class CrossEntropy(Model):
    ROLES: ClassVar = ("diagonal", "relu")

    fitted: PositiveFloat = parameter(0.3, "training loss from which on networks count as fitted")


class DatasetDistances(Model):
    ROLES: ClassVar = ("diagram", "risk", "distances")


class DiagonalNesting(Model):
    ROLES: ClassVar = ("risk",)

    samples: PositiveInt = parameter(16, "main-task samples at which networks are compared")
    gain: NonNegativeFloat = parameter(0.5, "decades of risk that are no gain yet")


class DiagonalSolutions(Model):
    ROLES: ClassVar = ("norms", "sparsity", "rescaled")

    same: PositiveFloat = parameter(0.02, "decades by which norms may differ that count as the same")
    as_sparse: Annotated[float, Field(gt=0, le=1)] = parameter(
        0.05, "share of variance by which solutions may differ that count as equally sparse")  # fmt: skip
    overlap: Fraction = parameter(0.5, "share of features in common at which sharing is looked at")


class EndlessTraining(Model):
    ROLES: ClassVar = ("trajectory",)

    early: PositiveFloat = parameter(10.0, "margin of all samples early in training on what is fitted")
    late: PositiveFloat = parameter(100.0, "margin late in it")
    near: PositiveFloat = parameter(0.1, "decades of test error that count as no difference")


class ExactLimit(Model):
    ROLES: ClassVar = ("coefficients",)

    flow: PositiveFloat = parameter(1e-3, "largest relative distance of the adaptive flow")
    descent: PositiveFloat = parameter(1e-2, "largest relative distance of gradient descent")


class FeatureReuse(Model):
    ROLES: ClassVar = ("risk",)

    samples: PositiveInt = parameter(32, "main-task samples at which protocols are compared")


class GaussianBounds(Model):
    ROLES: ClassVar = ("curve",)

    broken: PositiveFloat = parameter(0.05, "share of inputs that may break a bound at the largest ε")
    near: PositiveFloat = parameter(0.1, "decades within which ratios of risks and of bounds agree")


class ImagePairs(Model):
    ROLES: ClassVar = ("risk",)

    near: PositiveFloat = parameter(0.005, "difference in the share of misclassified images that counts as none")


class LinearFinetuning(Model):
    ROLES: ClassVar = ("diagram",)
    OPTIONAL_ROLES: ClassVar = ("simulated",)

    gamma: PositiveFloat = parameter(0.5, "samples per dimension at which the sign changes with the angle")
    near: PositiveFloat = parameter(0.02, "distance from an angle that counts as agreement, in units of π")
    noise: NonNegativeFloat = parameter(0.2, "the paper's standard deviation of the label noise")


class LinearLimit(Model):
    ROLES: ClassVar = ("coefficients", "risk")

    near: PositiveFloat = parameter(1e-3, "largest relative distance from the exact limit")
    share: Annotated[float, Field(gt=0, le=1)] = parameter(0.999, "least share of the features' power along the source")
    alike: PositiveFloat = parameter(0.01, "transferability that counts as none; the target's power is 1")


class LinearTeachers(Model):
    ROLES: ClassVar = ("alignment", "stretch", "coefficients", "scale", "frozen", "layers")
    OPTIONAL_ROLES: ClassVar = ("small",)

    near: PositiveFloat = parameter(1e-3, "largest relative distance of trained networks from the exact limit")
    same: PositiveFloat = parameter(0.05, "decades of risk that count as no difference")
    flat: PositiveFloat = parameter(0.1, "decades of risk that count as none over numbers of samples")


class LinearTransfer(Model):
    ROLES: ClassVar = ("diagram",)
    OPTIONAL_ROLES: ClassVar = ("loud", "ridge", "decay")

    margin: PositiveFloat = parameter(0.05, "points at which theory is nearer to 0 say nothing about its sign")
    ridge: PositiveFloat = parameter(0.1, "ridge penalty that is compared with none")
    noise: NonNegativeFloat = parameter(0.2, "the paper's standard deviation of the label noise")
    angle: Fraction = parameter(0.25, "angle θ at which boundaries are looked for, in units of π")
    relative: PositiveFloat = parameter(0.1, "relative error of a mean risk that counts as agreement")
    near: PositiveFloat = parameter(0.05, "distance in γ that counts as agreement")
    term: PositiveFloat = parameter(0.25, "relative error of the term of eq 10 in 1/n that counts as agreement")
    enough: Annotated[int, Field(ge=3)] = parameter(100, "samples from which on that term is small")


class MeanFieldTransfer(Model):
    ROLES: ClassVar = ("risk", "gram", "out_of_rkhs", "anchored")

    readout: str = parameter("zero", "how the readout was trained in the runs of linear transfer that claims are about")
    smallest: PositiveInt = parameter(64, "fewest samples that the power law is fitted to")
    published: PositiveFloat = parameter(1.18, "the paper's exponent ν of that power law")
    exponent: PositiveFloat = parameter(0.2, "difference from it that is agreement; of others in proportion")
    alike: Annotated[float, Field(le=1)] = parameter(
        0.9, "centred alignment from which on two kernels are nearly indistinguishable")  # fmt: skip
    learned: PositiveFloat = parameter(0.05, "share of its variance that a source that was learned leaves at most")
    often: Annotated[float, Field(gt=0, le=1)] = parameter(0.9, "share of the numbers of samples that are nearly all")
    factor: Annotated[float, Field(gt=1)] = parameter(
        2.0, "factor between predicted and found boundary that counts as near")  # fmt: skip


class NtkBound(Model):
    ROLES: ClassVar = ("bound",)

    near: PositiveFloat = parameter(
        0.1, "distance from the limit of infinite width that counts as near, as a share of the risk before training"
    )  # fmt: skip
    attained: Annotated[float, Field(gt=0, le=1)] = parameter(
        0.95, "share of the sharp constant that is to be reached at most samples")  # fmt: skip


class PublishedRisk(Model):
    ROLES: ClassVar = ("published",)
    OPTIONAL_ROLES: ClassVar = ("overlap", "nested", "correlation_magnitude")

    family: Literal["diagonal", "relu"] = parameter("diagonal", "whose published risks")
    floor: PositiveFloat = parameter(1e-8, "published risks below are left out: there the stopping loss sets them")
    agree: Annotated[float, Field(gt=0, le=0.99)] = parameter(0.8, "share of cells that must agree")


class ReluClusters(Model):
    ROLES: ClassVar = ("regimes", "overlap", "nested")

    near: Annotated[float, Field(gt=0, le=1)] = parameter(0.1, "inertia up to which clusters explain a network")
    tolerance: Annotated[float, Field(gt=0, le=1)] = parameter(
        0.2, "relative difference up to which effective numbers of clusters count as the same")  # fmt: skip
    auxiliary_features: PositiveInt = parameter(6, "teacher units of the auxiliary task of the role overlap")


class ReluDimensionality(Model):
    ROLES: ClassVar = ("regimes", "nested")

    samples: NonNegativeInt = parameter(0, "main-task samples of the nested task; 0 for the most that there are")
    change: Annotated[float, Field(gt=0, le=1)] = parameter(
        0.1, "relative change of a dimensionality from which on it counts")  # fmt: skip


class ReluDisplacement(Model):
    ROLES: ClassVar = ("overlap", "nested", "magnitude")

    excess: PositiveFloat = parameter(0.1, "share by which a squared distance may exceed the least that there is")


class ReluFlow(Model):
    ROLES: ClassVar = ("risk",)

    difference: PositiveFloat = parameter(0.01, "largest relative difference of risks at the smallest learning rate")


class ReluLeastPenalty(Model):
    ROLES: ClassVar = ("least", "spread")

    excess: PositiveFloat = parameter(0.1, "share by which the penalty of what was found may exceed the least")
    order: Fraction = parameter(0.5, "rank correlation from which on a prediction counts")
    factor: Annotated[float, Field(ge=1)] = parameter(
        1.25, "ratio of predicted risks from which on pretraining is predicted to help or hurt")  # fmt: skip
    unfitted: PositiveFloat = parameter(1e-4, "share of the targets' mean square up to which samples count as fitted")
    floor: PositiveFloat = parameter(1e-4, "share of the teacher's mean square below which risks count as the same")


class ReluNesting(Model):
    ROLES: ClassVar = ("risk",)

    samples: PositiveInt = parameter(64, "main-task samples at which networks are compared")


class ReluNorms(Model):
    ROLES: ClassVar = ("norms", "displacement", "regimes")

    between: PositiveInt = parameter(
        256, "samples at which networks are not yet the teacher, and no longer far below its norm")  # fmt: skip


class ReluPenalty(Model):
    ROLES: ClassVar = ("curve",)

    near: PositiveFloat = parameter(0.25, "distance of exponents that count as the same")


class ReluPenaltyRisk(Model):
    ROLES: ClassVar = ("risk", "penalty")

    samples: PositiveInt = parameter(256, "fewest main-task samples from which on networks are compared")
    dearer: Annotated[float, Field(ge=1)] = parameter(
        1.25, "factor by which a pretrained unit must cost more than a new one where it is predicted to hurt"
    )  # fmt: skip
    order: Fraction = parameter(0.5, "rank correlation from which on a prediction counts")


class ReluRichness(Model):
    ROLES: ClassVar = ("risk",)
    OPTIONAL_ROLES: ClassVar = ("norms",)

    samples: PositiveInt = parameter(256, "samples at which networks are compared")
    lazy: Literal["single_task", "single_task_kernel"] = parameter(
        "single_task", "what rich networks face: those from the largest initial scale, or the tangent kernel at the "
        "smallest")  # fmt: skip
    gain: Annotated[float, Field(ge=1)] = parameter(1.25, "factor on the risk that is no gain yet")
    match: Annotated[float, Field(gt=0, le=1)] = parameter(
        0.95, "share of the teacher's mean square from which on a function matches it")  # fmt: skip
    section: str = parameter("App. D, as in Fig. 2a", "where the paper says so of these numbers of units and samples")


class ReluSharing(Model):
    ROLES: ClassVar = ("risk",)

    samples: PositiveInt = parameter(64, "main-task samples at which protocols are compared")
    overlap: Annotated[float, Field(gt=0, le=1)] = parameter(
        0.5, "share of the main features that are auxiliary ones where some are new")  # fmt: skip
    section: str = parameter("App. D, as in Fig. 2a", "where the paper says so of these numbers of units and samples")
