"""What can be set of toys."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, NonNegativeFloat, PositiveInt

from carryover.config.parameters import Model, keeps, parameter


class Task(Model):
    dimension: Annotated[int, Field(ge=2)] = parameter(6, "input dimensions")


class Pretrain(Task):
    solver: Literal["exact"] = parameter("exact", "how it is solved", axis=True)
    samples: PositiveInt = parameter(20, "source samples")


class Finetune(Task):
    STARTS_FROM: ClassVar = {"protocol": ("finetuning",)}
    KEEPS: ClassVar = keeps("coefficients")

    protocol: Literal["finetuning", "single_task"] = parameter("finetuning", "the start", axis=True)
    solver: Literal["exact", "descent"] = parameter("exact", "how it is solved", axis=True)
    samples: tuple[PositiveInt, ...] = parameter((3,), "target samples")
    angle: NonNegativeFloat = parameter(0.3, "angle between the tasks")
    max_steps: PositiveInt = parameter(100, "steps of descent", when={"solver": ("descent",)})
