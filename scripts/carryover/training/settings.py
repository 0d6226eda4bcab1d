"""What trainers accept: settings that make no sense are named in a `ValueError`."""

from __future__ import annotations

from collections.abc import Collection, Iterable

PRECISIONS = ("float32", "float64")


def check_positive(**settings: float) -> None:
    """Each number must be above 0."""
    for name, value in settings.items():
        if not value > 0:
            raise ValueError(f"{name} must be positive, got {value}")


def check_not_negative(**settings: float) -> None:
    """Each number must be 0 or above."""
    for name, value in settings.items():
        if not value >= 0:
            raise ValueError(f"{name} must not be negative, got {value}")


def check_choice(name: str, value: str, allowed: Collection[str]) -> None:
    """A setting must be one of those allowed."""
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")


def trainable_layers(trainable: Iterable[str], *allowed: tuple[str, ...]) -> tuple[str, ...]:
    """The layers that move, one of the sets allowed in its order; `trainable` is one name or several."""
    named = {trainable} if isinstance(trainable, str) else set(trainable)
    for layers in allowed:
        if named == set(layers):
            return layers
    choices = ", or ".join(" and ".join(layers) for layers in allowed)
    raise ValueError(f"trainable must name {choices}, got {sorted(named)}")
