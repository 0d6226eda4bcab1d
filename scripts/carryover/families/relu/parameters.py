"""What can be set of the family `relu`: its task, pretraining and finetuning."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt, model_validator

from carryover.config.parameters import Fraction, Model, keeps, parameter
from carryover.errors import UserError
from carryover.families.parameters import ACCURACY, DESCENT, FLOW, TRAINED, Device, Forecast, Relative, keeps_forecasts

PRETRAINED = ("finetuning", "finetuning_probe", "finetuning_kernel")
SCRATCH = ("single_task", "multi_task", "single_task_probe", "single_task_kernel")
WHOLE, TRANSFER = {"protocol": ("single_task", "finetuning")}, {"protocol": PRETRAINED}


class Task(Model):
    """What pretraining and finetuning share."""

    dimension: PositiveInt = parameter(15, "input dimensions D; inputs lie on the sphere of radius √D")
    width: PositiveInt = parameter(1000, "hidden units of the network")
    auxiliary_features: PositiveInt = parameter(6, "teacher units of the auxiliary task")
    auxiliary_norm: Literal["l1", "l2"] = parameter("l2", "their coefficients are ±1/√k (l2) or ±1/k (l1)")
    directions: Literal["orthogonal", "frames"] = parameter(
        "orthogonal", "all teacher units are orthogonal, or they come in orthonormal frames of D")  # fmt: skip
    signs: Literal["paired", "random"] = parameter("paired", "signs of coefficients: opposite in pairs, or random")
    precision: Literal["float32", "float64"] = parameter("float32", "numbers that descent trains in; flow uses float64")


class Training(Task):
    """What each of the two stages says for itself."""

    loss: Literal["squared", "cross_entropy"] = parameter(
        "squared", "squared error, or cross-entropy on the sign of the teacher", when=TRAINED)  # fmt: skip
    tolerance: PositiveFloat = parameter(
        1e-8, "training stops at this share of the loss of a network whose outputs are 0", when=TRAINED)  # fmt: skip
    max_epochs: PositiveInt = parameter(100_000, "most passes through the samples", when=DESCENT)
    max_steps: PositiveInt = parameter(10_000, "most gradient evaluations of the flow, two a step", when=FLOW)
    accuracy: Relative = ACCURACY
    device: Device = parameter("auto", "where it is trained", when=TRAINED)


class Pretrain(Training):
    solver: Literal["descent", "flow"] = parameter(
        "descent", "gradient descent, or gradient flow, which descent follows with small steps", axis=True)  # fmt: skip
    samples: PositiveInt = parameter(1024, "auxiliary samples")
    initial_scale: PositiveFloat = parameter(1e-3, "both layers start from N(0, scale² · 2/fan-in)")
    layer_ratio: NonNegativeFloat = parameter(
        0.0, "ratio of a unit's |w| to its readout at the start, by root mean squares, at the same sum of squares; 0 "
        "leaves it at √width", axis=True)  # fmt: skip
    learning_rate: PositiveFloat = parameter(0.1, "step of descent, cut where it diverges", when=DESCENT)
    batch_size: NonNegativeInt = parameter(0, "samples in a step; 0 for all", when=DESCENT)


class Finetune(Forecast, Training):
    STARTS_FROM: ClassVar = {"protocol": PRETRAINED}
    KEEPS: ClassVar = keeps_forecasts(PRETRAINED) | keeps("inputs", "targets", when={"keep_samples": (True,)}) | keeps(
        "time", "first", "second", "start_first", "start_second", "teacher_directions", "teacher_readout",
        "auxiliary_directions", "auxiliary_readout")  # fmt: skip

    protocol: Literal[*SCRATCH, *PRETRAINED] = parameter(  # type: ignore[valid-type]
        "finetuning", "finetuning starts from the pretrained network, single_task from scratch, multi_task learns "
        "both tasks at once; a probe fits the readout alone, a kernel the tangent features", axis=True)  # fmt: skip
    solver: Literal["descent", "flow", "ridge"] = parameter(
        "descent", "gradient descent, gradient flow, which descent follows with small steps, or, for probes and "
        "kernels, ridge regression", axis=True)  # fmt: skip
    samples: tuple[PositiveInt, ...] = parameter((16,), "main-task samples")
    main_features: tuple[PositiveInt, ...] = parameter((6,), "teacher units of the main task")
    main_norm: Literal["l1", "l2"] = parameter("l2", "their coefficients are ±1/√k (l2) or ±1/k (l1)")
    magnitude: tuple[PositiveFloat, ...] = parameter((1.0,), "factors on these coefficients")
    overlap: tuple[Fraction, ...] = parameter((1.0,), "fraction of them that are auxiliary ones")
    correlation: tuple[Annotated[float, Field(ge=-1, le=1)], ...] = parameter(
        (1.0,), "cosines between those and their auxiliary ones")  # fmt: skip
    unit_correlations: tuple[str, ...] = parameter(
        (), "in place of overlap and correlation: lists of main units' cosines, such as 1 1 0.9 0.9 0 0")  # fmt: skip
    rescale: tuple[PositiveFloat, ...] = parameter((1.0,), "factors on the weights before training", when=WHOLE)
    rescaled: Literal["first", "both"] = parameter(
        "first", "layers that the factors multiply; both: after the readout's reset", when=WHOLE)  # fmt: skip
    readout_scale: PositiveFloat = parameter(1e-3, "the readout is redrawn from N(0, scale² · 2/width)", when=TRANSFER)
    angular_noise: Fraction = parameter(
        0.0, "pretrained input weights are turned apart at random, by about as many radians; their lengths stay",
        when=TRANSFER)  # fmt: skip
    initial_scale: tuple[PositiveFloat, ...] = parameter(
        (1e-3,), "both layers start from N(0, scale² · 2/fan-in): small is rich, 1 is lazy",
        when={"protocol": SCRATCH})  # fmt: skip
    auxiliary_samples: PositiveInt = parameter(1024, "auxiliary samples", when={"protocol": ("multi_task",)})
    learning_rate: PositiveFloat = parameter(1.0, "step of descent, cut where it diverges", axis=True, when=DESCENT)
    batch_size: NonNegativeInt = parameter(128, "samples of a task in a step; 0 for all", when=DESCENT)
    keep_samples: bool = parameter(False, "keep the main task's samples, for measures of what else would fit them")

    @model_validator(mode="after")
    def check(self):
        """Refuse a solver that the protocol does not have; UserError."""
        known = ("ridge",) if self.protocol.endswith(("_probe", "_kernel")) else ("descent", "flow")
        if self.solver not in known:
            raise UserError(f"{self.protocol} has no solver {self.solver}: choose {' or '.join(known)}.")
        return self
