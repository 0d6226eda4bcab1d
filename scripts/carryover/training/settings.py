"""What trainers accept: settings that make no sense are named in a `ValueError`."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np
from numpy.typing import ArrayLike

PRECISIONS = ("float32", "float64")


def check_positive(**settings: float) -> None:
    """Each number must be above 0."""
    for name, value in settings.items():
        if not value > 0:
            raise ValueError(f"{name} must be positive, got {value}")


def check_not_negative(**settings: ArrayLike) -> None:
    """Each number, or all of an array, must be 0 or above."""
    for name, value in settings.items():
        if not np.all(np.asarray(value) >= 0):
            raise ValueError(f"{name} must not be negative, got {np.min(value)}")


def check_accuracy(accuracy: float) -> None:
    """The relative error of a step must be above 0, and 1 at most."""
    check_positive(accuracy=accuracy)
    if accuracy > 1:
        raise ValueError(f"accuracy must be at most 1, got {accuracy}")


def check_choice(name: str, value: str, allowed: Collection[str]) -> None:
    """A setting must be one of those allowed."""
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")


def check_arrays(*arrays: tuple[str, ArrayLike, str]) -> None:
    """Arrays, each (name, values, axes such as "runs inputs"), must be finite, not empty, and fit together.

    Axes of one name have one size, which a number says itself. "..." stands for any axes at the front, and lets
    arrays be empty.
    """
    sizes: dict[str, int] = {}
    for place, (name, values, axes) in enumerate(arrays):
        shape, last = np.shape(values), axes.removeprefix("... ").split()
        own, free = (shape[-len(last) :], ["..."]) if axes.startswith("...") else (shape, [])
        wanted = [int(axis) if axis.isdigit() else sizes.get(axis, axis) for axis in last]
        fits = len(own) == len(last) and all(
            isinstance(w, str) or w == size for w, size in zip(wanted, own, strict=True)
        )
        if not fits or (0 in shape and not free):
            others = ", ".join(dict.fromkeys(other for other, *_ in arrays[:place]))
            spelled = f"({', '.join(map(str, free + wanted))}){f' beside {others}' if others else ''}"
            raise ValueError(f"{name} must have the shape {spelled}, none of it 0, got {shape}")
        if not np.isfinite(values).all():
            raise ValueError(f"{name} must be finite")
        sizes |= zip(last, own, strict=True)


def trainable_layers(trainable: Iterable[str], *allowed: tuple[str, ...]) -> tuple[str, ...]:
    """The layers that move, one of the sets allowed in its order; `trainable` is one name or several."""
    named = {trainable} if isinstance(trainable, str) else set(trainable)
    for layers in allowed:
        if named == set(layers):
            return layers
    choices = ", or ".join(" and ".join(layers) for layers in allowed)
    raise ValueError(f"trainable must name {choices}, got {sorted(named)}")
