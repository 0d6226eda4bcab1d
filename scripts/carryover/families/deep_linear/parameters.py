"""What can be set of the family `deep_linear`: its task, pretraining and finetuning."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt, model_validator

from carryover.config.parameters import Fraction, Model, keeps, parameter
from carryover.errors import UserError
from carryover.families.parameters import DESCENT, Device, Forecast, keeps_forecasts

SIMULATED = {"solver": ("descent", "balanced")}
PRETRAINED = ("linear_transfer", "finetuning")
SCRATCH = {"protocol": ("single_task",)}
DECAYED = {**SCRATCH, "solver": ("exact",)}
FIXED = {"protocol": ("linear_transfer",)}
ANGLE, STRETCH = {"relation": ("angle",)}, {"relation": ("stretch",)}


class Task(Model):
    """What pretraining and finetuning share."""

    dimension: Annotated[int, Field(ge=2)] = parameter(500, "input dimensions d; inputs are Gaussian")
    leading: NonNegativeInt = parameter(0, "dimensions in which the inputs' covariance has the leading eigenvalue")
    leading_eigenvalue: PositiveFloat = parameter(1.5, "its eigenvalue there")
    eigenvalue: PositiveFloat = parameter(1.0, "its eigenvalue in all others")
    source_norm: tuple[PositiveFloat, ...] = parameter((1.0,), "norm of the source's coefficients")
    depth: tuple[PositiveInt, ...] = parameter((2,), "layers L, with the readout")
    precision: Literal["float32", "float64"] = parameter("float32", "numbers that gradient descent works in")


class Training(Task):
    """What each of the two stages says for itself."""

    solver: Literal["exact", "descent", "balanced"] = parameter(
        "exact", "the limit of vanishing initial weights, gradient descent, or gradient flow of balanced networks",
        axis=True)  # fmt: skip
    learning_rate: PositiveFloat = parameter(1e-3, "step of gradient descent", when=DESCENT)
    tolerance: PositiveFloat = parameter(1e-6, "loss above its smallest value at which training stops", when=SIMULATED)
    max_steps: PositiveInt = parameter(100_000, "most steps of a network", when=DESCENT)
    device: Device = parameter("auto", "where it is trained", when=DESCENT)


class Pretrain(Training):
    initial_scale: tuple[PositiveFloat, ...] = parameter(
        (1e-5,), "standard deviation of weights, or norm of balanced layers", when=SIMULATED)  # fmt: skip


class Finetune(Forecast, Training):
    STARTS_FROM: ClassVar = {"protocol": PRETRAINED}
    KEEPS: ClassVar = keeps_forecasts(PRETRAINED) | keeps("time", "coefficients", "teacher")

    protocol: Literal["single_task", "linear_transfer", "finetuning"] = parameter(
        "finetuning", "finetuning trains all layers of the pretrained network, linear_transfer its last ones, as a "
        "rule the readout alone, single_task a network from scratch", axis=True)  # fmt: skip
    samples: tuple[PositiveInt, ...] = parameter((250,), "samples n of the target task")
    relation: Literal["angle", "stretch", "leading", "trailing"] = parameter(
        "angle", "how the target is made of the source: at an angle; stretched, with a random rest; plus a difference "
        "within the leading directions of the inputs, or in the others", axis=True)  # fmt: skip
    angle: tuple[Fraction, ...] = parameter((0.25,), "angle θ between source and target task [π]", when=ANGLE)
    target_norm: tuple[PositiveFloat, ...] = parameter((1.0,), "norm of the target's coefficients", when=ANGLE)
    stretch: tuple[PositiveFloat, ...] = parameter((1.0,), "factors of the source in the target", when=STRETCH)
    deviation: tuple[PositiveFloat, ...] = parameter(
        (0.5,), "norm of the rest of the target, in units of the source's",
        when={"relation": ("stretch", "leading", "trailing")})  # fmt: skip
    noise: tuple[NonNegativeFloat, ...] = parameter((0.2,), "standard deviation σ of the label noise")
    own_draws: tuple[Literal["depth", "angle", "noise"], ...] = parameter(
        (), "what has inputs and label noise of its own at each of its values, so that runs are independent; a seed's "
        "are the same at all values of the others")  # fmt: skip
    truncation: NonNegativeFloat = parameter(
        1e-2, "pretrained features below this share of the largest are left out: they vanish with the initial weights",
        when={**FIXED, "solver": ("exact",)})  # fmt: skip
    trained_layers: tuple[PositiveInt, ...] = parameter(
        (1,), "last layers that linear_transfer trains; the first are frozen", when=FIXED)  # fmt: skip
    ridge: tuple[NonNegativeFloat, ...] = parameter(
        (0.0,), "ridge penalties on the readout (eq 12)", when={**FIXED, "solver": ("exact",)})  # fmt: skip
    weight_decay: tuple[NonNegativeFloat, ...] = parameter((0.0,), "weight decay of all layers", when=DECAYED)
    folds: NonNegativeInt = parameter(
        0, "parts into which the samples are split to validate weight decay; 0 for none", when=DECAYED)  # fmt: skip
    initial_scale: PositiveFloat = parameter(
        1e-5, "standard deviation of weights, or norm of balanced layers", when={**SCRATCH, **SIMULATED})  # fmt: skip

    @model_validator(mode="after")
    def check(self):
        """Refuse what has no such solution; UserError."""
        if max(self.weight_decay) > 0 and self.depth != (2,):
            raise UserError("weight_decay has an exact limit at depth 2 alone: set depth to 2.")
        if self.solver == "balanced" and self.protocol == "linear_transfer":
            raise UserError("linear_transfer has no solver balanced: choose exact or descent.")
        if self.protocol == "linear_transfer" and max(self.trained_layers) > min(self.depth):
            raise UserError(f"trained_layers has {max(self.trained_layers)}, but depth only {min(self.depth)}.")
        if self.protocol == "linear_transfer" and max(self.trained_layers) > 1 and max(self.ridge) > 0:
            raise UserError("ridge is a penalty on the readout alone: set trained_layers to 1, or ridge to 0.")
        if self.folds == 1 or self.folds > min(self.samples):
            raise UserError(f"folds is {self.folds}: it must be 0, or from 2 to the smallest number of samples.")
        return self
