"""What can be set of the published runs: which, and how many of the dear ones are trained."""

from typing import ClassVar, Literal

from pydantic import NonNegativeInt, PositiveFloat, PositiveInt, model_validator

from carryover.config.parameters import Model, keeps, parameter
from carryover.errors import UserError
from carryover.families.parameters import Device

PRETRAINED = ("finetuning", "finetuning_probe", "finetuning_kernel", "pretrained")
SCRATCH = ("single_task", "multi_task", "single_task_probe", "single_task_kernel")


class Task(Model):
    """What pretraining and finetuning share."""

    network: Literal["relu", "magnitude", "diagonal"] = parameter(
        "relu", "ReLU networks, those of the grid of cosines and magnitudes, or diagonal networks")  # fmt: skip
    ours: tuple[Literal["signs", "pretraining"], ...] = parameter(
        (), "what is as in our own experiments, and not as published: paired signs; pretraining to a loss of 1e-8 of "
        "that of outputs of 0")  # fmt: skip
    rounded: bool = parameter(
        False, "whether weights start one rounding away, to measure what training makes of that")  # fmt: skip
    device: Device = parameter("auto", "where it is trained")


class Pretrain(Task):
    solver: Literal["descent"] = parameter("descent", "gradient descent", axis=True)
    budget: PositiveInt = parameter(1_000_000, "most epochs, where the published training has more")


class Finetune(Task):
    STARTS_FROM: ClassVar = {"protocol": PRETRAINED}
    KEEPS: ClassVar = keeps("time") | keeps("first", "second", when={"protocol": ("pretrained",)})

    protocol: Literal[*SCRATCH, *PRETRAINED] = parameter(  # type: ignore[valid-type]
        "single_task", "the published setup: STL, PT+FT, MTL, their probes (LR) and kernels (NTK); pretrained leaves "
        "the networks as pretraining left them", axis=True)  # fmt: skip
    solver: Literal["descent", "fitted"] = parameter(
        "descent", "gradient descent; or fitted: ridge regression, and descent of diagonal readouts in closed form",
        axis=True)  # fmt: skip
    published: tuple[Literal["relu_overlap", "relu_nested", "relu_rescaled", "relu_magnitude", "diagonal_overlap",
                             "diagonal_nested", "diagonal_rescaled"], ...] = parameter(
        ("relu_overlap",), "published experiments")  # fmt: skip
    rescale: tuple[PositiveFloat, ...] = parameter((1.0,), "factors on the weights before training")
    samples: tuple[PositiveInt, ...] = parameter((16,), "main-task samples")
    budget: NonNegativeInt = parameter(
        20_000, "epochs after which other runs end than those drawn to be trained to their end; 0: there are no others",
        when={"solver": ("descent",)})  # fmt: skip
    drawn: NonNegativeInt = parameter(
        3, "runs of each experiment, setup, factor and number of samples, drawn beforehand, that are trained to their "
        "end", when={"solver": ("descent",)})  # fmt: skip
    switched: tuple[Literal["stop", "batches", "layers"], ...] = parameter(
        (), "what else is: training to a loss of 1e-8 of that of outputs of 0, in full batch; factors on first layers "
        "alone")  # fmt: skip
    cells: NonNegativeInt = parameter(
        0, "cells of ReLU networks, drawn beforehand, whose runs alone are trained, to their end; 0: all cells",
        when={"solver": ("descent",)})  # fmt: skip

    @model_validator(mode="after")
    def check(self):
        """Refuse a solver that the protocol does not have; UserError."""
        fits = self.protocol.endswith(("_probe", "_kernel"))
        descends = not fits or (self.protocol.endswith("_probe") and self.network == "diagonal")
        known = ["descent"] * descends + ["fitted"] * fits
        if self.solver not in known:
            raise UserError(f"{self.protocol} has no solver {self.solver}: choose {' or '.join(known)}.")
        return self
