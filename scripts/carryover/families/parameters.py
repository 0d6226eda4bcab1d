"""Parameters that several families share."""

from typing import Literal

from carryover.config.parameters import Model, parameter


class Images(Model):
    """The set of images of a task."""

    images: Literal["digits", "mnist", "fashion-mnist", "cifar-100", "stl-10"] = parameter(
        "digits", "set of images; digits come with scikit-learn")  # fmt: skip
    folder: str = parameter(
        "", "folder with the files of the set; empty for digits, and for those of Debian's package "
        "dataset-fashion-mnist", path=True)  # fmt: skip
    other_images: bool = parameter(False, "accept other files in the same format as those of the set")
