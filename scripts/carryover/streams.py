"""Random numbers that depend on the run alone, not on the runs that are computed with it.

Every run draws its teacher, its data and its weights from generators of their own. So the same teacher and test set
serve all protocols that are compared on it, a longer training set leaves the initial weights alone, and a run sees the
same numbers alone, in a block of seeds, or after more seeds were asked for.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from numbers import Real
from typing import Any

from numpy.random import PCG64, Generator, SeedSequence


def generator(experiment: str, condition: Any, seed: int, stream: str) -> Generator:
    """The generator of one stream of numbers of one run.

    `experiment` and `stream` ("teacher", "inputs", "weights") are text. `condition` is what the draw may depend on
    besides: text, a number, None, a bool, or a tuple, list or mapping of such (mappings in any order; equal numbers
    are the same, 1 and 1.0 too). `seed` is a whole number from 0. Different arguments give independent generators:
    they are written down unambiguously, as JSON, and the 256 bits of its SHA-256 are the entropy of a SeedSequence
    that seeds a PCG64. The raw bits are the same on every platform and for every version of NumPy.

    Raises ValueError for another condition.
    """
    label = json.dumps([experiment, _plain(condition), int(seed), stream], sort_keys=True)
    entropy = int.from_bytes(hashlib.sha256(label.encode()).digest(), "big")
    return Generator(PCG64(SeedSequence(entropy)))


def _plain(condition: Any) -> Any:
    """What JSON writes in one way only: whole floats become integers, as they are equal to them."""
    if condition is None or isinstance(condition, str | bool):
        return condition
    if isinstance(condition, Mapping) and all(isinstance(key, str) for key in condition):
        return {key: _plain(value) for key, value in condition.items()}
    if isinstance(condition, tuple | list):
        return [_plain(value) for value in condition]
    if isinstance(condition, Real) and math.isfinite(condition):
        return int(condition) if condition == int(condition) else float(condition)  # type: ignore[call-overload]
    raise ValueError(f"condition must be of text, finite numbers, tuples and mappings with names, got {condition!r}")
