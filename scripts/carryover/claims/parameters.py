"""What can be set of each group of claims, and the data that it reads."""

from typing import ClassVar, Literal

from pydantic import PositiveFloat, PositiveInt

from carryover.config.parameters import Model, parameter


def reading(*roles, optional=None):
    """The model of a group of claims that has no options."""
    return type("Reading", (Model,), {"ROLES": roles, "OPTIONAL_ROLES": optional, "__module__": __name__})


AlignedTeachers = reading("risk")
CovarianceBound = reading("curve")
CrossEntropy = reading("diagonal", "relu")
DatasetDistances = reading("diagram", "risk", "distances")
DiagonalSolutions = reading("norms", "sparsity", "rescaled")
EndlessTraining = reading("trajectory")
ExactLimit = reading("coefficients")
GaussianBounds = reading("curve")
ImagePairs = reading("risk")
LinearFinetuning = reading("diagram", optional=("simulated",))
LinearLimit = reading("coefficients", "risk")
LinearTeachers = reading("alignment", "stretch", "coefficients", "scale", "frozen", "layers", optional=("small",))
LinearTransfer = reading("diagram", optional=("loud", "ridge", "decay"))
MeanFieldTransfer = reading("risk", "gram", "out_of_rkhs", "anchored")
NtkBound = reading("bound")
ReluClusters = reading("regimes", "overlap", "nested")
ReluDimensionality = reading("regimes", "nested")
ReluDisplacement = reading("overlap", "nested", "magnitude")
ReluFlow = reading("risk")
ReluLeastPenalty = reading("least", "spread")
ReluPenalty = reading("curve")


class BoundCorrelations(Model):
    ROLES: ClassVar = ("bounds",)

    images: str = parameter("scikit-learn's digits", "whose classes the pairs are of, in words")


class ConvnetRescaling(Model):
    rescale: PositiveFloat = parameter(0.5, "factor on the weights that is compared with no rescaling")


class ConvnetStages(Model):
    ROLES: ClassVar = ("stages",)

    stages: tuple[str, ...] = parameter(("layer3", "layer4"), "stages that the claims are about, each for itself")


class DiagonalNesting(Model):
    ROLES: ClassVar = ("risk",)

    samples: PositiveInt = parameter(16, "main-task samples at which networks are compared")


class FeatureReuse(Model):
    ROLES: ClassVar = ("risk",)

    samples: PositiveInt = parameter(32, "main-task samples at which protocols are compared")


class PretrainedRescaling(Model):
    ROLES: ClassVar = ("pairs", "sets", "sizes", "probe")

    rescale: PositiveFloat = parameter(0.5, "factor on the weights that is compared with no rescaling")
    as_rates: tuple[PositiveFloat, ...] = parameter(
        (0.5, 0.25), "factors that are compared with the learning rate over their square")  # fmt: skip


class PublishedRisk(Model):
    ROLES: ClassVar = ("published",)
    OPTIONAL_ROLES: ClassVar = ("overlap", "nested", "correlation_magnitude")

    family: Literal["diagonal", "relu"] = parameter("diagonal", "whose published risks")


class ReluNesting(Model):
    ROLES: ClassVar = ("risk",)

    samples: PositiveInt = parameter(64, "main-task samples at which networks are compared")


class ReluNorms(Model):
    ROLES: ClassVar = ("norms", "displacement", "regimes")

    between: PositiveInt = parameter(
        256, "samples at which networks are not yet the teacher, and no longer far below its norm")  # fmt: skip


class ReluPenaltyRisk(Model):
    ROLES: ClassVar = ("risk", "penalty")

    samples: PositiveInt = parameter(256, "fewest main-task samples from which on networks are compared")


class ReluRichness(Model):
    ROLES: ClassVar = ("risk",)
    OPTIONAL_ROLES: ClassVar = ("norms",)

    samples: PositiveInt = parameter(256, "samples at which networks are compared")
    lazy: Literal["single_task", "single_task_kernel"] = parameter(
        "single_task", "what rich networks face: those from the largest initial scale, or the tangent kernel at the "
        "smallest")  # fmt: skip
    section: str = parameter("App. D, as in Fig. 2a", "where the paper says so of these numbers of units and samples")


class ReluSharing(Model):
    ROLES: ClassVar = ("risk",)

    samples: PositiveInt = parameter(64, "main-task samples at which protocols are compared")
    section: str = parameter("App. D, as in Fig. 2a", "where the paper says so of these numbers of units and samples")
