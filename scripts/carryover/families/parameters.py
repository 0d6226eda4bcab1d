"""Parameters that several families share."""

from typing import Annotated, Literal

from pydantic import Field

from carryover.config.parameters import Model, keeps, parameter


class Images(Model):
    """The set of images of a task."""

    images: Literal["digits", "mnist", "fashion-mnist", "cifar-10", "cifar-10-jpeg", "cifar-100", "stl-10"] = parameter(
        "digits", "set of images; digits come with scikit-learn")  # fmt: skip
    folder: str = parameter(
        "", "folder with the files of the set; empty for digits, and for those of Debian's package "
        "dataset-fashion-mnist", path=True)  # fmt: skip


class Forecast(Model):
    """Whether runs that start from pretrained networks are forecast: see `families.forecasts`."""

    forecast: bool = parameter(
        False, "forecast each run that starts from a pretrained network, from its own samples, before it is trained"
    )


def keeps_forecasts(protocols: tuple[str, ...]) -> dict[str, dict[str, tuple]]:
    """`KEEPS` of the forecasts of a family whose runs start from pretrained networks under these protocols."""
    return keeps("forecast_probe", when={"forecast": (True,), "protocol": protocols})


DESCENT, FLOW, TRAINED = {"solver": ("descent",)}, {"solver": ("flow",)}, {"solver": ("descent", "flow")}
Device = Literal["auto", "cpu", "cuda"]

# Of ReLU networks that are trained by gradient descent or flow.
Relative = Annotated[float, Field(gt=0, le=1)]
ACCURACY = parameter(0.03, "error of one step of the flow in a unit, relative to how far it has moved", when=FLOW)
