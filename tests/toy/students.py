"""Hand-made networks whose features are known."""

import numpy as np


def unit(vectors):
    return vectors / np.sqrt((vectors**2).sum(-1, keepdims=True))


def student(units, inputs, seed=0):
    """Units in random directions with random importance."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((units, inputs)), rng.uniform(0.1, 2, units)


def built(teacher, copies=4, seed=0):
    """Input weights and readouts of a student with several units of any length along each teacher unit."""
    rng = np.random.default_rng(seed)
    first = np.repeat(teacher, copies, axis=0) * rng.uniform(0.01, 5, (copies * len(teacher), 1))
    return first, rng.standard_normal((1, len(first)))


def noisy(features, inputs, units=200):
    """What training leaves: importance along orthogonal features, nearly, and a tenth as much in all directions."""
    rng = np.random.default_rng(0)
    half = units // 2
    frame = np.linalg.qr(rng.standard_normal((inputs, inputs)))[0][:features]
    tuned = frame[np.arange(half) % features] + 0.03 * rng.standard_normal((half, inputs))
    W = np.vstack([tuned, rng.standard_normal((half, inputs))])
    return W, np.concatenate([np.ones(half), 0.1 * rng.exponential(size=half)])
