"""What can be set of the family `mean_field`: its task, pretraining and finetuning."""

from typing import ClassVar, Literal

from pydantic import NonNegativeFloat, PositiveFloat, PositiveInt, model_validator

from carryover.config.parameters import Fraction, Model, keeps, parameter
from carryover.errors import UserError
from carryover.families.parameters import ACCURACY, DESCENT, FLOW, TRAINED, Device, Forecast, Relative, keeps_forecasts

MAX_TIME = 1000.0  # of the paper: 10⁵ steps of gradient descent at a rate of 0.01 · width
SOLVERS = {
    "single_task": ("flow",),
    "finetuning": ("flow",),
    "linear_transfer": ("exact", "descent"),
    "pretrained": ("exact",),
}
PRETRAINED = ("linear_transfer", "finetuning", "pretrained")
LEARNING = {"protocol": ("single_task", "linear_transfer", "finetuning")}
FIXED = {"protocol": ("linear_transfer",)}


class Task(Model):
    """What pretraining and finetuning share."""

    dimension: PositiveInt = parameter(100, "input dimensions d; inputs are N(0, I)")
    width: PositiveInt = parameter(1000, "hidden units m of the network")
    teacher_units: PositiveInt = parameter(100, "units m* of the target's teacher")
    teacher_scale: tuple[PositiveFloat, ...] = parameter(
        (1.0,), "factors on the target's coefficients N(0, 1): 1 hardly moves the features, √m* does")  # fmt: skip
    precision: Literal["float32", "float64"] = parameter(
        "float32", "numbers that pretraining by flow computes in between the ends of its steps")  # fmt: skip


class Training(Task):
    """What each of the two stages says for itself."""

    max_steps: PositiveInt = parameter(
        100_000, "most gradient evaluations of the flow, two a step, or steps of descent", when=TRAINED)  # fmt: skip
    accuracy: Relative = ACCURACY
    device: Device = parameter("auto", "where it is trained", when=TRAINED)


class Pretrain(Training):
    solver: Literal["flow", "exact"] = parameter(
        "flow", "gradient flow, which descent follows with small steps; or exact, with an infinite anchor: input "
        "weights stay, and the readout's flow is known", axis=True)  # fmt: skip
    ablated: tuple[Fraction, ...] = parameter((0.5,), "fractions of the target's units that the source lacks")
    anchor: tuple[NonNegativeFloat, ...] = parameter(
        (0.0,), "λ of the penalties λ/2 · 1/m Σ|w − w(0)|² on the way of the input weights, or 2mλ' of the paper's λ' "
        "Σ|w − w(0)|²", when=FLOW)  # fmt: skip
    tolerance: PositiveFloat = parameter(1e-6, "half the mean squared error at which training stops")
    max_time: tuple[PositiveFloat, ...] = parameter(
        (MAX_TIME,), "flow times at which training stops, a network for each: learning_rate · steps of descent"
    )


class Finetune(Forecast, Training):
    STARTS_FROM: ClassVar = {"protocol": PRETRAINED}
    KEEPS: ClassVar = keeps_forecasts(PRETRAINED) | keeps("time") | keeps(
        "first", "second", "start_first", "source_readout", "teacher_directions", "teacher_readout",
        when={"protocol": ("pretrained",)})  # fmt: skip

    protocol: Literal["single_task", "finetuning", "linear_transfer", "pretrained"] = parameter(
        "linear_transfer", "linear_transfer fits a new readout to the pretrained features, finetuning trains all of "
        "the pretrained network, single_task one from scratch, pretrained leaves it as it is", axis=True)  # fmt: skip
    solver: Literal["descent", "flow", "exact"] = parameter(
        "exact", "gradient flow, which descent follows with small steps; where no features are learned, the solution "
        "itself, or gradient descent of the readout", axis=True)  # fmt: skip
    samples: tuple[PositiveInt, ...] = parameter((64,), "target samples", when=LEARNING)
    draws: PositiveInt = parameter(1, "data sets of each size for each seed", when=LEARNING)
    noise: NonNegativeFloat = parameter(0.0, "standard deviation of the label noise", when=LEARNING)
    readout: tuple[Literal["zero", "pretrained", "least_squares"], ...] = parameter(
        ("zero",), "how the readout is trained alone: by gradient flow from zero or from the pretrained readout, or "
        "fitted by least_squares of least norm", when=FIXED)  # fmt: skip
    max_time: tuple[NonNegativeFloat, ...] = parameter(
        (MAX_TIME,), "times at which the readout's gradient flow ends at the latest: what learning_rate · max_steps "
        "is to gradient descent", when=FIXED)  # fmt: skip
    scratch_time: tuple[PositiveFloat, ...] = parameter(
        (), "flow times at which training from scratch stops; without one it goes on to its tolerance",
        when={"protocol": ("single_task",)})  # fmt: skip
    cutoff: Fraction = parameter(
        0.03, "singular values of the features, relative to the largest, below which a direction is left out of "
        "least_squares", when=FIXED)  # fmt: skip
    learning_rate: PositiveFloat = parameter(
        0.01, "step of gradient descent, in units of the width, cut where it diverges", when=DESCENT)  # fmt: skip
    tolerance: PositiveFloat = parameter(1e-6, "half the mean squared error at which training stops", when=LEARNING)

    @model_validator(mode="after")
    def check(self):
        """Refuse a solver that the protocol does not have; UserError."""
        known = SOLVERS[self.protocol]
        if self.solver not in known:
            raise UserError(f"{self.protocol} has no solver {self.solver}: choose {' or '.join(known)}.")
        if self.protocol in FIXED["protocol"] and self.solver == "descent" and "least_squares" in self.readout:
            raise UserError("least_squares is fitted without steps: its solver is exact, not descent.")
        return self
