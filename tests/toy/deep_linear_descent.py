"""Gradient descent of deep linear networks, as a loop over their matrices."""

from functools import reduce

import numpy as np


def descend(layers, X, y, rate, steps, frozen=0):
    """β after plain gradient descent on |X W_1 … W_L − y|²/(2n), the first layers of which stay as they are."""
    for _ in range(steps):
        left, right = [np.eye(X.shape[1])], [np.ones((1, 1))]
        for layer, last in zip(layers[:-1], layers[:0:-1], strict=True):
            left.append(left[-1] @ layer)
            right.append(last @ right[-1])
        gradient = X.T @ (X @ left[-1] @ layers[-1] - y[:, None]) / len(X)
        layers = layers[:frozen] + [
            layer - rate * left[i].T @ gradient @ right[len(layers) - 1 - i].T
            for i, layer in enumerate(layers) if i >= frozen
        ]  # fmt: skip
    return reduce(np.matmul, layers)[:, 0]
