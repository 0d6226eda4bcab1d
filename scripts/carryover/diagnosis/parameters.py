"""What can be set of a diagnosis."""

from typing import Annotated

from pydantic import Field

from carryover.config.parameters import Model, parameter


class Parameters(Model):
    """Criteria, fixed before the data are seen."""

    most: Annotated[float, Field(gt=0, le=1)] = parameter(
        0.8, "share of the components from which on a layer is inherited, or kept")  # fmt: skip
    factor: Annotated[float, Field(ge=1)] = parameter(
        1.5, "typical factor between changes of variances from which on they count")  # fmt: skip
    variance: Annotated[float, Field(gt=0, le=0.999999)] = parameter(
        0.95, "share of the variance that counted components hold")  # fmt: skip
    enough: Annotated[float, Field(ge=1)] = parameter(10.0, "least samples, in multiples of the larger PR")
    confidence: Annotated[float, Field(gt=0, le=0.999)] = parameter(
        0.95, "probability that an interval contains the truth")  # fmt: skip


class Options(Parameters):
    """What the command line and the configuration say of a diagnosis."""

    layers: tuple[str, ...] = parameter((), "layers to look at; none: all")
