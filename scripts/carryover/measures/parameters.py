"""What can be set of each measure, and of which networks it can be taken."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, NonNegativeInt, PositiveFloat, PositiveInt

from carryover.config.parameters import Model, parameter

ALL_LAYERS = {"protocol": ("single_task", "multi_task", "finetuning")}
"""Protocols that train every layer: a probe or a kernel has the features of its start."""


class Bounds(Model):
    FAMILIES: ClassVar = ("image_pairs",)


class Clusters(Model):
    FAMILIES: ClassVar = ("relu",)
    APPLIES_TO: ClassVar = ALL_LAYERS

    largest_k: PositiveInt = parameter(12, "most clusters of which each number is tried")
    further_k: tuple[PositiveInt, ...] = parameter((), "larger numbers that are tried as well")


class Coefficients(Model):
    FAMILIES: ClassVar = ("deep_linear", "diagonal")


class Dimensionality(Model):
    FAMILIES: ClassVar = ("relu",)
    APPLIES_TO: ClassVar = ALL_LAYERS

    samples: Annotated[int, Field(ge=2)] = parameter(2000, "inputs at which responses are taken")


class Displacement(Model):
    FAMILIES: ClassVar = ("relu",)
    APPLIES_TO: ClassVar = {"protocol": ("finetuning",)}


class Gram(Model):
    FAMILIES: ClassVar = ("mean_field",)
    APPLIES_TO: ClassVar = {"protocol": ("pretrained",)}

    samples: Annotated[int, Field(ge=40)] = parameter(2000, "inputs that alignments are taken over")


class LeastPenalty(Model):
    FAMILIES: ClassVar = ("relu",)
    APPLIES_TO: ClassVar = {"protocol": ("single_task", "finetuning")}
    NEEDS: ClassVar = {"keep_samples": (True,), "loss": ("squared",)}

    gap: Annotated[float, Field(gt=0, le=0.1)] = parameter(1e-4, "share of the penalty that may be left to the bound")


class LinearProbe(Model):
    FAMILIES: ClassVar = ("convnet",)
    APPLIES_TO: ClassVar = {"protocol": ("finetuning",)}
    NEEDS: ClassVar = {"keep_weights": (True,)}

    count: PositiveInt = parameter(500, "test images of the task at most")
    device: Literal["auto", "cpu", "cuda"] = parameter("auto", "where the networks are")


class Norms(Model):
    FAMILIES: ClassVar = ("diagonal",)

    readout_scale: PositiveFloat = parameter(1e-3, "readout γ that the Q penalty assumes after pretraining")


class NtkBound(Model):
    FAMILIES: ClassVar = ("wide_relu",)


class OutOfRkhs(Model):
    FAMILIES: ClassVar = ("mean_field",)
    APPLIES_TO: ClassVar = {"protocol": ("pretrained",)}

    cutoff: Annotated[float, Field(gt=0, le=1)] = parameter(
        1e-10, "eigenvalues of the features' kernel, relative to the largest, up to which a direction counts as "
        "outside")  # fmt: skip


class PretrainedWeights(Model):
    FAMILIES: ClassVar = ("mean_field", "published")
    APPLIES_TO: ClassVar = {"protocol": ("pretrained",)}


class ReluNorms(Model):
    FAMILIES: ClassVar = ("relu",)
    APPLIES_TO: ClassVar = ALL_LAYERS


class Sparsity(Model):
    FAMILIES: ClassVar = ("diagonal",)

    largest_k: PositiveInt = parameter(100, "most weights to count as the top k")


class Stages(Model):
    FAMILIES: ClassVar = ("convnet",)
    APPLIES_TO: ClassVar = ALL_LAYERS
    NEEDS: ClassVar = {"keep_weights": (True,)}

    count: NonNegativeInt = parameter(2000, "most images, drawn evenly; 0: all; their outputs are held in memory")
    statistics: Literal["kept", "renewed"] = parameter(
        "kept", "statistics of normalisation before and after finetuning: those of the networks, or of the images"
    )
    device: Literal["auto", "cpu", "cuda"] = parameter("auto", "where the networks are")


class TargetAlignment(Model):
    FAMILIES: ClassVar = ("diagonal", "relu")
    APPLIES_TO: ClassVar = {"protocol": ("finetuning",)}

    inputs: Annotated[int, Field(ge=2)] = parameter(1000, "inputs at which responses of ReLU networks are taken")


class Trajectory(Model):
    FAMILIES: ClassVar = ("convnet", "deep_linear", "diagonal", "mean_field", "published", "relu", "wide_relu")
