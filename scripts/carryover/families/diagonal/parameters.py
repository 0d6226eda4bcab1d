"""What can be set of the family `diagonal`: its task, pretraining and finetuning."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt

from carryover.config.parameters import Fraction, Model, keeps, parameter
from carryover.families.parameters import DESCENT, FLOW, TRAINED, Device, Forecast, keeps_forecasts

PRETRAINED = ("finetuning", "finetuning_probe")
SCRATCH = ("single_task", "single_task_probe", "multi_task")
PROTOCOLS = (*SCRATCH, *PRETRAINED)
WHOLE = {"protocol": ("single_task", "finetuning")}


class Task(Model):
    """The task's, which pretraining and finetuning share."""

    dimension: PositiveInt = parameter(1000, "input dimensions D; inputs lie on the sphere of radius √D")
    auxiliary_features: PositiveInt = parameter(40, "active dimensions of the auxiliary task")
    auxiliary_norm: Literal["l1", "l2"] = parameter("l2", "its coefficients are ±1/√k (l2) or ±1/k (l1)")


class Training(Task):
    """What each of the two stages says for itself."""

    loss: Literal["squared", "cross_entropy"] = parameter(
        "squared", "what gradient descent minimises; cross_entropy learns the signs of the targets",
        when=DESCENT)  # fmt: skip
    normalised: bool = parameter(
        False, "divide steps on cross-entropy by L max(1, log 1/L) of the training loss L: the margin grows by a "
        "share of itself", when=DESCENT)  # fmt: skip
    tolerance: PositiveFloat = parameter(1e-10, "training loss at which training stops", when=TRAINED)
    max_steps: PositiveInt = parameter(1_000_000, "most gradient evaluations of a network", when=TRAINED)
    accuracy: PositiveFloat = parameter(0.02, "error of a step of the flow in the logarithm of any weight", when=FLOW)
    max_time: NonNegativeFloat = parameter(
        0.0, "flow time at which training stops in any case, steps times learning rate of gradient descent; 0 for no "
        "limit", when=FLOW)  # fmt: skip
    device: Device = parameter("auto", "where it is trained", when=TRAINED)


class Pretrain(Training):
    solver: Literal["exact", "flow", "descent"] = parameter(
        "exact", "exact limit, adaptive gradient flow, or plain gradient descent", axis=True)  # fmt: skip
    samples: PositiveInt = parameter(1024, "auxiliary samples")
    initial_scale: PositiveFloat = parameter(
        1e-3, "value of all weights at the start, or the root mean square of both layers", axis=True)  # fmt: skip
    balance: Annotated[float, Field(ge=-1, le=1)] = parameter(
        0.0, "share λ/c of the layers' squared weights by which the first is larger than the readout at the start, "
        "λ = u² − v² of c = u² + v²", axis=True)  # fmt: skip
    learning_rate: PositiveFloat = parameter(0.5, "step of gradient descent", when=DESCENT)


class Finetune(Forecast, Training):
    STARTS_FROM: ClassVar = {"protocol": PRETRAINED}
    KEEPS: ClassVar = keeps_forecasts(PRETRAINED) | keeps(
        "time", "coefficients", "teacher", "auxiliary_teacher", "start_first_plus", "start_first_minus",
        "start_second_plus", "start_second_minus")  # fmt: skip

    protocol: Literal[PROTOCOLS] = parameter(  # type: ignore[valid-type]
        "finetuning", "finetuning starts from the pretrained network, single_task from scratch, multi_task learns "
        "both tasks at once; a probe trains the readout alone", axis=True)  # fmt: skip
    solver: Literal["exact", "flow", "descent", "symmetric"] = parameter(
        "exact", "exact limit, adaptive gradient flow, plain gradient descent, or the minimiser of the Q penalty (eq "
        "22), which takes both paths to start alike", axis=True)  # fmt: skip
    samples: tuple[PositiveInt, ...] = parameter((16,), "main-task samples")
    main_features: tuple[PositiveInt, ...] = parameter((40,), "active dimensions of the main task")
    main_norm: Literal["l1", "l2"] = parameter("l2", "its coefficients are ±1/√k (l2) or ±1/k (l1)")
    overlap: tuple[Fraction, ...] = parameter((1.0,), "fraction of them that are auxiliary ones")
    rescale: tuple[PositiveFloat, ...] = parameter((1.0,), "factors on the weights before training", when=WHOLE)
    rescaled: Literal["first", "both"] = parameter(
        "both", "layers that the factors multiply: the first one, or both, after the readout's reset; the published "
        "risks are those of both", when=WHOLE)  # fmt: skip
    readout_scale: PositiveFloat = parameter(1e-3, "readout weights after the reset", when={"protocol": PRETRAINED})
    initial_scale: tuple[PositiveFloat, ...] = parameter(
        (1e-3,), "values of all four weight vectors at the start", when={"protocol": SCRATCH})  # fmt: skip
    auxiliary_samples: PositiveInt = parameter(1024, "auxiliary samples", when={"protocol": ("multi_task",)})
    learning_rate: PositiveFloat = parameter(0.1, "step of gradient descent", when=DESCENT)
