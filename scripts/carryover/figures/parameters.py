"""What can be set of each figure, and the data that it reads."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from carryover.config.parameters import Fraction, Model, parameter


class Atlas(Model):
    title: str = parameter("Where pretraining helps", "what is seen")
    settings: NonNegativeInt = parameter(
        0, "maps of each family, by settings such as the noise; 0 for the usual one alone")  # fmt: skip
    largest: PositiveFloat = parameter(1.0, "gain, log₁₀ of a ratio of risks, at which colours end")
    columns: PositiveInt = parameter(3, "maps in a row")


class BoundCorrelations(Model):
    ROLES: ClassVar = ("bounds", "published")

    title: str = parameter(
        "Three bounds and the error of finetuning on pairs of scikit-learn's digits, by the singular directions "
        "that the regression keeps",
        "what is seen")  # fmt: skip
    bound: Literal["distance", "benign_overfitting", "covariance"] = parameter(
        "covariance", "bound of the lower panels")  # fmt: skip
    samples: PositiveInt = parameter(10, "images of the target task in the lower panels")


class Claims(Model):
    ROLES: ClassVar = ("claims",)

    title: str = parameter("What holds, and what does not", "what is seen")
    paper: str = parameter("", "name of the paper whose claims are drawn; empty for all")


class Clusters(Model):
    OPTIONAL_ROLES: ClassVar = ("regimes", "overlap", "nested")

    title: str = parameter("Clusters of the hidden units of ReLU networks", "what is seen")
    samples: PositiveInt = parameter(64, "main-task samples of the inertias by overlap")
    unit_correlations: tuple[str, ...] = parameter((), "lists of cosines by which they are shown; empty for all")
    nested_samples: tuple[PositiveInt, ...] = parameter(
        (), "main-task samples of the panels over rescalings; empty for all")  # fmt: skip
    main_features: PositiveInt = parameter(1, "teacher units of the nested task that is shown")
    auxiliary_features: PositiveInt = parameter(
        6, "teacher units of the auxiliary task, which tell how many features both tasks have")  # fmt: skip
    only: tuple[str, ...] = parameter((), "conditions on the runs of every role, as coordinate=value")


class ConvnetControls(Model):
    ROLES: ClassVar = ("risk", "trajectory")

    title: str = parameter("What rescaling convolutional networks before finetuning changes", "what is seen")
    rescale: PositiveFloat = parameter(0.5, "factor on the weights that is compared with no rescaling")
    learning_rate: PositiveFloat = parameter(0.01, "step of gradient descent where it is not compared")
    samples: PositiveInt = parameter(8, "training images of the task")


class ConvnetRescaling(Model):
    title: str = parameter("Finetuning convolutional networks with and without rescaling", "what is seen")
    rescale: PositiveFloat = parameter(0.5, "factor on the weights that is compared with no rescaling")


class CovarianceBound(Model):
    ROLES: ClassVar = ("curve",)

    title: str = parameter(
        "The covariance bound orders risks, but exceeds any possible risk in half of the instances",
        "what is seen")  # fmt: skip


class CrossEntropy(Model):
    OPTIONAL_ROLES: ClassVar = ("diagonal", "relu")

    title: str = parameter("Features and test error along training on cross-entropy, by initial scale", "what is seen")
    fitted: PositiveFloat = parameter(
        0.3, "training loss from which on a run is compared with others by its margin over scale²")  # fmt: skip


class DatasetDistances(Model):
    ROLES: ClassVar = ("diagram", "risk", "distances")

    title: str = parameter(
        "Gains of linear transfer fall with the distance of targets within a right angle, not beyond",
        "what is seen")  # fmt: skip


class DiagonalSolutions(Model):
    ROLES: ClassVar = ("norms", "sparsity", "rescaled")

    title: str = parameter(
        "What diagonal networks learn: norms, sparsity and the share of auxiliary features", "what is seen"
    )  # fmt: skip
    samples: PositiveInt = parameter(64, "samples of the solutions whose sparsity is shown over overlaps")


class Dimensionality(Model):
    OPTIONAL_ROLES: ClassVar = ("regimes", "overlap", "nested")

    title: str = parameter("Dimensionality of the hidden responses of ReLU networks", "what is seen")
    nested_samples: tuple[PositiveInt, ...] = parameter(
        (), "main-task samples of the panels over rescalings; empty for all")  # fmt: skip
    main_features: PositiveInt = parameter(1, "teacher units of the nested task that is shown")
    only: tuple[str, ...] = parameter((), "conditions on the runs of every role, as coordinate=value")


class EndlessTraining(Model):
    ROLES: ClassVar = ("trajectory",)

    title: str = parameter(
        "From a margin of 10 on, networks trained on cross-entropy slowly forget their start", "what is seen"
    )  # fmt: skip
    least: PositiveFloat = parameter(2.0, "smallest margin shown")
    most: PositiveFloat = parameter(130.0, "largest margin shown")
    points: Annotated[int, Field(ge=2)] = parameter(40, "margins at which curves are drawn")


class FrozenLayer(Model):
    ROLES: ClassVar = ("risk", "layers")

    title: str = parameter(
        "With a frozen first layer more data do not help, if pretraining began from vanishing weights",
        "what is seen")  # fmt: skip
    floor: PositiveFloat = parameter(1e-2, "smallest risk shown")


class GaussianBounds(Model):
    ROLES: ClassVar = ("curve",)

    title: str = parameter("Two bounds on Gaussian inputs tell when depth helps", "what is seen")
    source_norm: PositiveFloat = parameter(4.0, "norm of the source in a; the target's is 1")
    angle: Fraction = parameter(0.125, "angle between the tasks in a, in units of π")
    epsilon: PositiveFloat = parameter(0.2, "ε of the bounds in b")


class LinearAgreement(Model):
    ROLES: ClassVar = ("coefficients", "risk")

    title: str = parameter("Gradient descent ends at the exact limit where it has the time to", "what is seen")
    near: PositiveFloat = parameter(1e-3, "distance that counts as agreement")


class MeanFieldAnchor(Model):
    ROLES: ClassVar = ("risk", "gram")

    title: str = parameter(
        "Linear transfer to a target of mostly new units, by how far pretraining let the features move",
        "what is seen")  # fmt: skip
    readout: str = parameter("zero", "how the readout was trained in the linear transfer of panel a")


class MeanFieldTransfer(Model):
    ROLES: ClassVar = ("risk", "gram", "out_of_rkhs")

    title: str = parameter(
        "ReLU networks pretrained on a part of the target's units: their features, and where linear transfer gains",
        "what is seen")  # fmt: skip
    ablated: Fraction = parameter(0.5, "fraction of ablated units of the kernels that are shown")
    readout: str = parameter("zero", "how the readout was trained in the linear transfer that is shown as a map")
    smallest: PositiveInt = parameter(64, "fewest samples that the power law is fitted to")
    published: PositiveFloat = parameter(1.18, "the paper's exponent of the power law")


class NormFactor(Model):
    ROLES: ClassVar = ("risk", "theory")

    title: str = parameter("Finetuned deep networks follow the formula with the norm factor, not eq 15", "what is seen")
    angle: Fraction = parameter(0.5, "angle θ between the tasks, in units of π")


class NormScale(Model):
    ROLES: ClassVar = ("risk",)

    title: str = parameter(
        "Deep networks pay more for the target's norm than for the source's, if samples are many", "what is seen"
    )  # fmt: skip


class NtkBound(Model):
    ROLES: ClassVar = ("bound",)

    title: str = parameter(
        "The first term of theorem 6.1's bound lies above the risk, most often far above", "what is seen")  # fmt: skip


class PublishedRisk(Model):
    ROLES: ClassVar = ("published",)
    OPTIONAL_ROLES: ClassVar = ("overlap", "nested", "correlation_magnitude")

    family: Literal["diagonal", "relu"] = parameter("diagonal", "whose published risks")
    title: str = parameter(
        "Diagonal networks beside the published risks: more of the smallest along training agree than of the last",
        "what is seen")  # fmt: skip
    floor: PositiveFloat = parameter(1e-8, "published risks below are left out: there the stopping loss sets them")


class RegularisedScratch(Model):
    ROLES: ClassVar = ("risk",)

    title: str = parameter("Weight decay in training from scratch removes the spike near γ = 1", "what is seen")
    angle: Fraction = parameter(0.5, "angle θ of the slices in d, in units of π")
    largest: PositiveFloat = parameter(1.0, "transferability at which maps and slices end")


class ReluDisplacement(Model):
    ROLES: ClassVar = ("overlap", "nested", "magnitude", "risk")

    title: str = parameter("How far finetuning moves ReLU networks, and what their penalty predicts", "what is seen")
    samples: tuple[PositiveInt, ...] = parameter((128, 256, 512), "main-task samples of the risks that are predicted")


class ReluLeastPenalty(Model):
    ROLES: ClassVar = ("least", "spread")

    title: str = parameter("What ReLU networks find, and the function of least penalty", "what is seen")
    unfitted: PositiveFloat = parameter(1e-4, "share of the targets' mean square up to which samples count as fitted")
    floor: PositiveFloat = parameter(1e-4, "share of the teacher's mean square below which risks are drawn as that")


class ReluNorms(Model):
    ROLES: ClassVar = ("norms", "displacement", "regimes")

    title: str = parameter("Norms of ReLU networks relative to those of their teachers", "what is seen")


class ReluPenalty(Model):
    ROLES: ClassVar = ("curve",)

    title: str = parameter(
        "Penalty of a ReLU unit of magnitude 1: a large pretrained feature costs less than a new one at cosine ρ "
        "= 1, and more at .9",
        "what is seen")  # fmt: skip
    quantity: Literal["penalty", "exponent"] = parameter("penalty", "the penalty itself, or d log r / d log m")


class RidgeTransfer(Model):
    ROLES: ClassVar = ("risk",)

    title: str = parameter("A ridge penalty hurts linear transfer, unless samples are few", "what is seen")
    gamma: PositiveFloat = parameter(0.5, "the paper's samples per dimension, of panel a")


class RiskCurves(Model):
    ROLES: ClassVar = ("risk",)

    title: str = parameter("Risk against samples", "what is seen")
    quantity: Literal["risk_final", "risk_best"] = parameter("risk_final", "which risk")
    columns: str = parameter("overlap", "coordinate of the columns of panels")
    along: str = parameter("samples", "coordinate of the horizontal axis, which is logarithmic")
    rows: str = parameter("", "coordinate of the rows of panels, or `layers`: those trained; empty for one row")
    hue: tuple[str, ...] = parameter(("protocol",), "coordinates of the curves")
    shown: tuple[str, ...] = parameter((), "values of the first of these that are drawn; empty for all")
    names: tuple[str, ...] = parameter((), "what the curves are called, in their order; empty for what they are")
    apart: NonNegativeFloat = parameter(
        0.0, "by how many octaves neighbouring curves are moved apart, with bars for bands")  # fmt: skip
    relative_to: str = parameter("", "coordinate by whose square risks are divided; empty for none")
    only: tuple[str, ...] = parameter((), "conditions on the runs shown, as coordinate=value")
    panel: Annotated[float, Field(gt=0, le=20)] = parameter(2.1, "width of a panel", unit="inches")
    markers: bool = parameter(False, "what was trained is drawn as markers over the lines of exact limits")
    floor: PositiveFloat = parameter(1e-10, "smallest risk shown: below it lies what the stopping loss sets")


class SolverAgreement(Model):
    ROLES: ClassVar = ("coefficients", "trajectory", "risk", "relu")

    protocols: tuple[str, ...] = parameter(("single_task", "finetuning"), "protocols to show, a panel each")
    samples: PositiveInt = parameter(32, "samples of the run whose training is shown")


class StageDimensionality(Model):
    ROLES: ClassVar = ("stages", "risk")

    title: str = parameter(
        "Dimensions of the stages of convolutional networks before and after finetuning", "what is seen")  # fmt: skip


class TeacherSensitivity(Model):
    ROLES: ClassVar = ("stretch", "scale")

    title: str = parameter(
        "What depth gains and what scaling the target costs, by samples per dimension", "what is seen")  # fmt: skip
    depth: Annotated[int, Field(ge=2)] = parameter(5, "layers that are compared with one")
    scaled_depth: PositiveInt = parameter(7, "layers of which source or target is scaled")


class TransferDiagram(Model):
    ROLES: ClassVar = ("risk", "theory")

    title: str = parameter("Where transfer helps", "what is seen")
    protocol: Literal["linear_transfer", "finetuning"] = parameter(
        "linear_transfer", "what is compared with training from scratch")  # fmt: skip
    noise: NonNegativeFloat = parameter(0.2, "standard deviation of the label noise")
    depth: PositiveInt = parameter(2, "layers of the networks")
    slices: tuple[NonNegativeFloat, ...] = parameter((0.125, 0.25, 0.375), "angles of the slices, in units of π")
    largest: PositiveFloat = parameter(1.0, "transferability at which surface, maps and slices end")
