"""What can be set of the family `image_pairs`: its task, pretraining and finetuning."""

from typing import ClassVar, Literal

from pydantic import NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from carryover.config.parameters import Fraction, parameter
from carryover.families.parameters import DESCENT, Images


class Task(Images):
    """What pretraining and finetuning share."""

    classes: tuple[NonNegativeInt, ...] = parameter(tuple(range(10)), "classes that the tasks are drawn from")
    pairs: PositiveInt = parameter(20, "pairs of a source and a target task, the same for all seeds")
    pixels: Literal["raw", "centred"] = parameter("raw", "between 0 and 1, or less the mean of all training images")
    cutoff: tuple[Fraction, ...] = parameter(
        (0.0,), "singular values of all training images of a task, relative to the largest, up to which a direction "
        "is left out of its coefficients θ_S or θ_T; 0 for least squares")  # fmt: skip


class Pretrain(Task):
    solver: Literal["exact"] = parameter("exact", "the limit of gradient descent from 0", axis=True)


class Finetune(Task):
    STARTS_FROM: ClassVar = {"protocol": ("finetuning",)}

    protocol: Literal["single_task", "finetuning"] = parameter(
        "finetuning", "finetuning starts from the source's coefficients, single_task from 0", axis=True)  # fmt: skip
    solver: Literal["exact", "descent"] = parameter("exact", "the limit of gradient descent, or its steps", axis=True)
    samples: tuple[PositiveInt, ...] = parameter(
        (10, 15, 20, 25, 30), "images n of the target task, drawn from its two classes together")  # fmt: skip
    draws: PositiveInt = parameter(25, "sets of each number of samples")
    learning_rate: PositiveFloat = parameter(0.1, "step of descent on half the mean squared error", when=DESCENT)
    tolerance: NonNegativeFloat = parameter(1e-6, "loss of the slowest draw at which training stops", when=DESCENT)
    max_steps: PositiveInt = parameter(100_000, "most steps", when=DESCENT)
