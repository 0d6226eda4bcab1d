"""What can be set of the family `wide_relu`: its task, pretraining and finetuning."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, PositiveFloat, PositiveInt

from carryover.config.parameters import Model, keeps, parameter
from carryover.families.parameters import ACCURACY, FLOW, Device, Forecast, Relative, keeps_forecasts


class Task(Model):
    """What pretraining and finetuning share."""

    dimension: Annotated[int, Field(ge=2)] = parameter(10, "input dimensions D; inputs are uniform on the unit sphere")
    width: PositiveInt = parameter(1000, "hidden units m of the network")
    initial_scale: PositiveFloat = parameter(0.3, "κ: before training from scratch input weights are κ times N(0, I)")


class Training(Task):
    """What each of the two stages says for itself."""

    tolerance: PositiveFloat = parameter(1e-6, "mean squared error at which training stops", when=FLOW)
    max_steps: PositiveInt = parameter(10_000, "most gradient evaluations of the flow, two a step", when=FLOW)
    accuracy: Relative = ACCURACY
    device: Device = parameter("auto", "where it is trained", when=FLOW)


class Pretrain(Training):
    solver: Literal["flow"] = parameter("flow", "gradient flow", axis=True)
    samples: PositiveInt = parameter(500, "source samples n_S")


class Finetune(Forecast, Training):
    STARTS_FROM: ClassVar = {"protocol": ("finetuning",)}
    KEEPS: ClassVar = keeps_forecasts(("finetuning",)) | keeps("time", "bound", "corollary", "tangent_distance")

    protocol: Literal["finetuning", "single_task"] = parameter(
        "finetuning", "finetuning trains the first layer of the pretrained network, single_task that of one from "
        "scratch", axis=True)  # fmt: skip
    solver: Literal["flow", "exact"] = parameter("flow", "gradient flow, or the limit of infinite width", axis=True)
    samples: tuple[PositiveInt, ...] = parameter((64,), "target samples n")
    distance: tuple[Annotated[float, Field(ge=0, le=2)], ...] = parameter(
        (0.5,), "|θ_T − θ_S| between the unit vectors of target and source")  # fmt: skip
