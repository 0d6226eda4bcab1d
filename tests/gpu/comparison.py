"""What two shards of the same runs differ in, on a card and on the CPU.

A number may differ by the stated share of the largest one of its variable. Sums in another order make shares of 1e-12
in float64 and 1e-6 in float32 of the shards of these tests, of convolutional networks 4e-7.
"""

import numpy as np

SHARES = {"float64": 1e-9, "float32": 1e-4}
# Convolutional networks whose training on the two can be compared: all images in every step.
CONVNETS = {"width": 8, "tasks": 1, "samples": (32,), "batch_size": 0, "learning_rate": 1e-3, "keep_weights": True}


def differing(one, other, share):
    """Names of variables that two shards do not have alike: floating-point numbers up to `share` of the largest."""
    names = set(one.variables) ^ set(other.variables)
    for name in set(one.variables) & set(other.variables):
        expected, found = one[name].values, other[name].values
        if expected.dtype.kind != "f":
            alike = np.array_equal(found, expected)
        else:
            stored = max(share, np.finfo(expected.dtype).eps)  # float64 may be kept as float32
            largest = np.nanmax(np.abs(expected), initial=0)
            alike = found.shape == expected.shape and np.allclose(
                found, expected, rtol=0, atol=stored * largest, equal_nan=True
            )
        names |= set() if alike else {name}
    return names
