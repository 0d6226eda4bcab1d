"""Checks that formulas share: arguments are finite, in their ranges, and broadcast."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

_POSITIVE = {"target_norm", "power", "c"}
_RANGES = {"theta": (0, np.pi), "rho": (-1, 1)}
_RANGES |= dict.fromkeys(("m0", "sigma", "ridge", "fitted", "outside", "delta", "epsilon"), (0, np.inf))
_RANGES |= dict.fromkeys(("n", "depth", "confidence"), (1, np.inf))


def finite(name: str, value: ArrayLike, axes: int = 0) -> Array:
    """A float64 array; ValueError where it is not finite or has fewer axes."""
    array = np.asarray(value, dtype=float)
    if array.ndim < axes or not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite and have {axes} axes or more; its shape is {array.shape}")
    return array


def broadcast(**arguments: ArrayLike) -> list[Array]:
    """Finite float64 arrays of one shape; ValueError where one is outside the range that its name stands for."""
    arrays = {name: finite(name, value) for name, value in arguments.items()}
    for name, array in arrays.items():
        low, high = _RANGES.get(name, (-np.inf, np.inf))
        if name in _POSITIVE and not (array > 0).all():
            raise ValueError(f"{name} must be positive")
        if not ((array >= low) & (array <= high)).all():
            raise ValueError(f"{name} must lie in [{low:g}, {high:g}]")
        if name == "depth" and (array != np.floor(array)).any():
            raise ValueError("depth must be a whole number")
    try:
        return list(np.broadcast_arrays(*arrays.values()))
    except ValueError:
        raise misfit(**arrays) from None


def misfit(**arrays: NDArray) -> ValueError:
    """What to raise for shapes that do not fit."""
    shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
    return ValueError(f"the shapes must fit and broadcast; they are {shapes}")
