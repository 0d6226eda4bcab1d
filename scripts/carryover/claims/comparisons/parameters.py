"""What can be set of each comparison, and the data that it reads."""

from typing import ClassVar, Literal

from pydantic import PositiveFloat

from carryover.config.parameters import Condition, Model, parameter


class Atlas(Model):
    """What the map is: its axes, what is compared, and what predicts it."""

    ROLES: ClassVar = ("risk",)
    OPTIONAL_ROLES: ClassVar = ("beforehand", "features", "theory")

    family: str = parameter("networks", "what the networks are, in titles")
    protocols: tuple[str, ...] = parameter(
        ("finetuning",), "what is compared with training from scratch: finetuning, or what trains the readout alone"
    )  # fmt: skip
    only: tuple[Condition, ...] = parameter((), "conditions on transferred runs, as coordinate=value")
    similarity: str = parameter(
        "overlap", "coordinate, or candidate, that says how similar source and target are; of a list of cosines its "
        "mean")  # fmt: skip
    similarity_of: Literal["value", "angle", "chord", "lost", "saved"] = parameter(
        "value", "how: it is the value itself, the cosine of an angle in units of π (angle) or of the angle over a "
        "chord of the unit circle (chord), 1 less a share that is lost, or 1 less a ratio of which the candidate is "
        "−log₁₀ (saved)")  # fmt: skip
    similarity_is: str = parameter("similarity", "what it is, in words")
    row: str = parameter("", "coordinate that tells the rows of the map apart, where that is not the similarity")
    setting: str = parameter("", "coordinate of which each value has a map of its own")
    shown: float = parameter(0.0, "the value of it that the atlas shows")
    parameters: PositiveFloat = parameter(1.0, "parameters of the target")
    times: str = parameter("", "coordinate by which they are multiplied")
    parameters_are: str = parameter("parameter", "what counts as one, in words")
    theory: Literal["none", "curve", "ratio", "linear_transfer", "power_law"] = parameter(
        "none", "what predicts the gain: nothing; a curve of risks; the ratio of what stands for the risk, from "
        "scratch and after pretraining; eqs 8, 10 and 14 of deep linear networks; or the power law of the risk from "
        "scratch over what pretrained features leave out")  # fmt: skip
    theory_is: str = parameter("", "the same in words")
    ratio: str = parameter("", "variable of the role `theory` that stands for the risk")
    against: str = parameter(
        "", "variable that stands for that from scratch, where transferred runs have it themselves")  # fmt: skip
    candidates: tuple[str, ...] = parameter(
        (), "variables of the role `beforehand` of which log₁₀ of the ratio, from scratch over after pretraining, "
        "might predict the gain")  # fmt: skip
    floor: PositiveFloat = parameter(1e-8, "risks below it count as this: training stops there")
