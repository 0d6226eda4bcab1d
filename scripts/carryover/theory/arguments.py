"""The check that formulas share: arguments are finite, in their ranges, and broadcast."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

_POSITIVE = {"gamma", "target_norm", "c"}
_RANGES = {"theta": (0, np.pi), "rho": (-1, 1)}
_RANGES |= dict.fromkeys(("m0", "sigma", "ridge", "fitted", "outside", "epsilon"), (0, np.inf))
_RANGES |= dict.fromkeys(("n", "depth", "confidence"), (1, np.inf))


def broadcast(**arguments: ArrayLike) -> list[Array]:
    """The arguments as float64 arrays of one shape, in their order.

    Raises ValueError for values that are not finite, or not in the range that `_RANGES` and `_POSITIVE` have for the
    argument's name, and for shapes that do not broadcast.
    """
    arrays = {name: np.asarray(value, dtype=float) for name, value in arguments.items()}
    for name, array in arrays.items():
        low, high = _RANGES.get(name, (-np.inf, np.inf))
        if not (np.isfinite(array) & (array >= low) & (array <= high)).all():
            raise ValueError(f"{name} must be finite and lie in [{low:g}, {high:g}]")
        if name in _POSITIVE and not (array > 0).all():
            raise ValueError(f"{name} must be positive")
        if name == "depth" and (array != np.floor(array)).any():
            raise ValueError("depth must be a whole number")
    return list(np.broadcast_arrays(*arrays.values()))
