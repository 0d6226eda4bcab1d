"""What the tests of exact averages over inputs share: weights, sampling, and quadrature in the plane."""

from itertools import pairwise

import numpy as np
from scipy.integrate import quad


def network(rng, *shape):
    """first (..., H, D), readout (..., H) of shape (..., H, D)."""
    return rng.standard_normal(shape), rng.standard_normal(shape[:-1])


def batch(rng):
    """(2, 3) networks of 5 units, with teachers of their own that share the second axis."""
    weights = *network(rng, 2, 3, 5, 4), *network(rng, 2, 3, 5, 4)
    return weights, network(rng, 2, 1, 2, 4)


def inputs(kind, rng, D, samples=200_000):
    X = rng.standard_normal((samples, D))
    return X if kind == "gaussian" else X * np.sqrt(D) / np.linalg.norm(X, axis=1, keepdims=True)


def assert_mean(exact, samples):
    assert np.all(np.abs(samples.mean(0) - exact) < 5 * samples.std(0) / np.sqrt(len(samples)))


def plane_mean(square, kinks):
    """E[square(x)] in two dimensions of a function of degree 2, by quadrature over the angle; E|x|² = 2."""

    def integrand(angle):
        return square(np.array([np.cos(angle), np.sin(angle)]))

    edges = np.unique(np.concatenate([[0, 2 * np.pi], np.mod(kinks, 2 * np.pi)]))
    pieces = [quad(integrand, a, b, epsabs=1e-13)[0] for a, b in pairwise(edges)]
    return sum(pieces) / np.pi


def kinks(*layers):
    """Angles at which units of the plane open or close."""
    angles = np.concatenate([np.arctan2(layer[:, 1], layer[:, 0]) for layer in layers])
    return np.concatenate([angles + np.pi / 2, angles - np.pi / 2])


def pair_apart(rng, angle, D=6):
    """Two unit vectors."""
    w, n = np.linalg.qr(rng.standard_normal((D, 2)))[0].T
    return w, np.cos(angle) * w + np.sin(angle) * n
