"""What can be set of each group of claims, and the data that it reads."""

from typing import Literal

from pydantic import NonNegativeFloat, PositiveFloat, PositiveInt

from carryover.config.parameters import Condition, Model, parameter, reading

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
LinearLimit = reading("coefficients", "risk", "deep")
LinearTeachers = reading(
    "alignment", "stretch", "stretch_trained", "coefficients", "scale", "frozen", "layers", "small"
)
LinearTransfer = reading("diagram", optional=("loud", "ridge", "decay"))
MeanFieldTransfer = reading("risk", "gram", "out_of_rkhs", "anchored")
NtkBound = reading("bound", "narrow", "wide")
PretrainedRescaling = reading("pairs", "sets", "sizes", "probe")
ReluClusters = reading("regimes", "overlap", "nested", "overlap_risk", "nested_risk")
ReluDimensionality = reading("regimes", "nested")
ReluDisplacement = reading("overlap", "nested", "magnitude")
ReluFlow = reading("risk")
ReluLeastPenalty = reading("least", "spread")
ReluNesting = reading("risk")
ReluNorms = reading("norms", "displacement", "regimes")
ReluPenalty = reading("curve")
ReluPenaltyRisk = reading("risk", "penalty")


class BoundCorrelations(reading("bounds")):
    images: str = parameter("MNIST", "whose classes the pairs are of, in words")
    constant: NonNegativeFloat = parameter(
        1.0, "c of eq 3, which the paper leaves open; 0 for the limit of small ones")  # fmt: skip


class ConvnetRescaling(Model):
    factors: tuple[PositiveFloat, ...] = parameter((), "further factors on the weights, of which the gain is tested")


class ConvnetStages(reading("stages")):
    stages: tuple[str, ...] = parameter(("layer3", "layer4"), "stages that the claims are about, each for itself")
    factors: tuple[PositiveFloat, ...] = parameter((), "factors on the weights; empty for all below 1")
    network: str = parameter("resnet18", "network of the published table")
    only: tuple[Condition, ...] = parameter((), "conditions on the runs, as coordinate=value")


class DiagonalNesting(reading("risk")):
    samples: PositiveInt = parameter(16, "main-task samples at which networks are compared")


class FeatureReuse(reading("risk")):
    samples: PositiveInt = parameter(32, "main-task samples at which protocols are compared")


class ReluRichness(reading("risk", optional=("norms",))):
    samples: PositiveInt = parameter(256, "samples at which networks are compared")
    lazy: Literal["single_task", "single_task_kernel"] = parameter(
        "single_task", "what rich networks face: those from the largest initial scale, or the tangent kernel at the "
        "smallest")  # fmt: skip


class ReluSharing(reading("risk")):
    samples: PositiveInt = parameter(64, "main-task samples at which protocols are compared")
