"""What can be set of the family `image_pairs`: its task, pretraining and finetuning."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from carryover.config.parameters import keeps, parameter
from carryover.families.parameters import DESCENT, Forecast, Images, keeps_forecasts

Estimator = Annotated[str, Field(pattern=r"^(least_squares|(cutoff|ridge)_(0?\.\d+|1e-\d+)|descent_[1-9]\d*)$")]


class Task(Images):
    """What pretraining and finetuning share."""

    classes: tuple[NonNegativeInt, ...] = parameter(tuple(range(10)), "classes that the tasks are drawn from")
    pairs: PositiveInt = parameter(20, "pairs of a source and a target task, the same for all seeds")
    shared: bool = parameter(False, "whether source and target may have a class in common")
    pixels: tuple[Literal["raw", "centred", "standardised"], ...] = parameter(
        ("raw",), "between 0 and 1, less the mean of all training images, or also over their deviation")  # fmt: skip
    estimator: tuple[Estimator, ...] = parameter(
        ("least_squares",), "how the coefficients θ_S and θ_T of a task are found from all its training images: "
        "least_squares; cutoff_0.01 leaves out singular values up to .01 of the largest; ridge_0.01 has a penalty of "
        ".01 λ₁; descent_100 takes 100 steps of 1/λ₁")  # fmt: skip


class Pretrain(Task):
    solver: Literal["exact"] = parameter("exact", "the limit of gradient descent from 0", axis=True)


class Finetune(Forecast, Task):
    STARTS_FROM: ClassVar = {"protocol": ("finetuning",)}
    KEEPS: ClassVar = keeps_forecasts(("finetuning",)) | keeps(
        "distance", "benign_overfitting", "covariance", "covariance_top", "target_alignment"
    )

    protocol: Literal["single_task", "finetuning"] = parameter(
        "finetuning", "finetuning starts from the source's coefficients, single_task from 0", axis=True)  # fmt: skip
    solver: Literal["exact", "descent"] = parameter("exact", "the limit of gradient descent, or its steps", axis=True)
    samples: tuple[PositiveInt, ...] = parameter(
        (10, 15, 20, 25, 30), "images n of the target task, drawn from its two classes together")  # fmt: skip
    draws: PositiveInt = parameter(25, "sets of each number of samples")
    target_from: tuple[Literal["zero", "source"], ...] = parameter(
        ("zero",), "where the estimator of the θ_T of the bounds starts: from 0, or from θ_S")  # fmt: skip
    learning_rate: PositiveFloat = parameter(0.1, "step of descent on half the mean squared error", when=DESCENT)
    tolerance: NonNegativeFloat = parameter(1e-6, "loss of the slowest draw at which training stops", when=DESCENT)
    max_steps: PositiveInt = parameter(100_000, "most steps", when=DESCENT)
