"""A case of known truth: how its layer is recorded before and after finetuning, and what happened to its features."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

UNCHANGED, REWEIGHT, SELECT = "unchanged", "reweight", "select"
ADD, REPLACE, NONE = "add", "replace", "none"
TRUTHS = {
    UNCHANGED: "the same features up to rotation, order, a common scale and a shift of units, and 1 to 3 % of noise",
    REWEIGHT: "the same features, whose relative variances changed by factors of 3 and more",
    SELECT: "at most 60 % of the features remain, the others have less than .1 % of the variance",
    ADD: "all features remain, and others beside them, at least 30 % of those after, are no linear functions of them",
    REPLACE: "at least 60 % of the features after are not those before, of which most are gone",
    NONE: "there is no verdict to give",
}


@dataclass(frozen=True)
class Recordings:
    """Responses of one layer, (samples, units) float32. baseline: those of an unrelated network to the same inputs."""

    before: np.ndarray
    after: np.ndarray
    baseline: np.ndarray | None = None

    def __post_init__(self) -> None:
        for values in (self.before, self.after, self.baseline):
            assert values is None or (values.dtype == np.float32 and values.ndim == 2 and np.isfinite(values).all())


@dataclass(frozen=True)
class Case:
    name: str
    truth: str
    why: str
    make: Callable[[int], Recordings]  # from a seed
    kind: str  # made, mlp, cnn or transformer


def cases(kind: str, rows: Iterable[tuple[str, str, str, Callable[[np.random.Generator], Recordings]]]) -> list[Case]:
    """Of rows of name, truth, why, and how it is made from a generator of its own."""
    return [Case(name, truth, why, _seeded(name, build), kind) for name, truth, why, build in rows]


def _seeded(name: str, build: Callable[[np.random.Generator], Recordings]) -> Callable[[int], Recordings]:
    return lambda seed: build(np.random.default_rng([zlib.crc32(name.encode()), seed]))
