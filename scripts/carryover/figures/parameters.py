"""What can be set of each figure, and the data that it reads."""

from functools import partial
from typing import Annotated, Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from carryover.config import parameters
from carryover.config.parameters import Condition, Model, parameter


class Titled(Model):
    title: str = parameter("", "what is seen; none if empty")


reading = partial(parameters.reading, base=Titled)
ConvnetFactors = Titled
CovarianceBound = reading("curve")
CrossEntropy = reading("diagonal", "relu")
DatasetDistances = reading("diagram", "risk", "distances")
EndlessTraining = reading("trajectory")
FrozenLayer = reading("risk", "layers")
GaussianBounds = reading("curve")
LinearAgreement = reading("coefficients", "risk", "depth_coefficients", "depth_risk")
MeanFieldAnchor = reading("risk", "gram")
MeanFieldTransfer = reading("risk", "gram", "out_of_rkhs")
NormFactor = reading("risk", "theory")
NormScale = reading("risk")
NtkBound = reading("bound")
PretrainedRescaling = reading("pairs", "sets", "sizes")
RegularisedScratch = reading("risk")
ReluLeastPenalty = reading("least", "spread")
RandomSigns = reading("clusters", "dimensionality", "paired", "paired_dimensionality")
ReluNorms = reading("norms", "displacement", "regimes")
RidgeTransfer = reading("risk")
StageDimensionality = reading("stages", "risk")


class Atlas(Titled):
    settings: NonNegativeInt = parameter(0, "maps of each family, by settings such as the noise; 0: the usual one")


class Dimensionality(reading("regimes", "overlap", "nested")):
    nested_samples: tuple[PositiveInt, ...] = parameter((), "main-task samples of panels over rescalings; empty: all")


class BoundCorrelations(reading("bounds", "published")):
    constant: NonNegativeFloat = parameter(1.0, "c of eq 3; 0 for the limit of small ones")


class Clusters(Dimensionality):
    samples: PositiveInt = parameter(64, "main-task samples of the inertias by overlap")
    unit_correlations: tuple[str, ...] = parameter((), "lists of cosines by which they are shown; empty for all")


class ConvnetControls(reading("risk", "trajectory")):
    learning_rate: PositiveFloat = parameter(0.01, "step of gradient descent where it is not compared")
    samples: PositiveInt = parameter(8, "training images of the task")


class ConvnetDimensions(Titled):
    samples: PositiveInt = parameter(1000, "training images of the task")


class ConvnetRescaling(Titled):
    rescale: PositiveFloat = parameter(0.5, "factor on the weights that is compared with no rescaling")


class DiagonalSolutions(reading("norms", "sparsity", "rescaled")):
    samples: PositiveInt = parameter(64, "samples of the solutions whose sparsity is shown over overlaps")


class Facets(reading("risk")):
    x: str = parameter("samples", "coordinate of the horizontal axis, which is logarithmic")
    column: str = parameter("overlap", "coordinate of the columns of panels")
    row: str = parameter("", "coordinate of the rows of panels, or `layers`: those trained; empty for one row")
    hue: tuple[str, ...] = parameter(("protocol",), "coordinates of the curves")
    shown: tuple[str, ...] = parameter((), "values of the first of these that are drawn; empty for all")
    names: tuple[str, ...] = parameter((), "what the curves are called, in their order; empty for what they are")
    apart: NonNegativeFloat = parameter(0.0, "octaves by which neighbouring curves stand apart, with bars for bands")
    relative_to: str = parameter("", "coordinate by whose square risks are divided; empty for none")
    only: tuple[Condition, ...] = parameter((), "conditions on the runs shown, as coordinate=value")
    panel: Annotated[float, Field(gt=0, le=20)] = parameter(2.1, "width of a panel [inches]")
    markers: bool = parameter(False, "what was trained is drawn as markers over the lines of exact limits")
    floor: PositiveFloat = parameter(1e-10, "smallest value shown: below it lies what the stopping loss sets")


class ReluDisplacement(reading("overlap", "nested", "magnitude", "risk")):
    samples: tuple[PositiveInt, ...] = parameter((128, 256, 512), "main-task samples of the risks that are predicted")


class ReluPenalty(reading("curve")):
    quantity: Literal["penalty", "exponent"] = parameter("penalty", "the penalty itself, or d log r / d log m")


class Replay(Titled):
    """It reads the table `published`, and risks of the family published by any names."""


class SolverAgreement(reading("coefficients", "trajectory", "risk", "relu")):
    samples: PositiveInt = parameter(32, "samples of the run whose training is shown")


class TransferDiagram(reading("risk", "theory")):
    protocol: Literal["linear_transfer", "finetuning"] = parameter("linear_transfer", "compared with scratch training")
    noise: NonNegativeFloat = parameter(0.2, "standard deviation of the label noise")
