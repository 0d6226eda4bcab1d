"""Activations of hand-made networks before and after finetuning whose regime is known by construction."""

import numpy as np


def features(samples, count, seed=0):
    """(samples, count) independent features of unit variance."""
    return np.random.default_rng(seed).standard_normal((samples, count))


def mixed(values, units, seed=0):
    """Features seen by units in random orthogonal directions, (samples, units), with a mean far from 0."""
    rng = np.random.default_rng([units, seed])
    frame = np.linalg.qr(rng.standard_normal((units, values.shape[1])))[0]
    return (values @ frame.T + 3 * rng.standard_normal(units)).astype(np.float32)


def pretrained(samples, count=20, units=50):
    return mixed(features(samples, count), units)


def selected(samples, count=20, kept=6, units=50):
    """After finetuning that kept few of the features."""
    return mixed(features(samples, count)[:, :kept], units, seed=1)


def frozen(samples, count=20, units=50):
    """The same features in other directions, hardly changed."""
    noise = np.random.default_rng(5).standard_normal((samples, units))
    return mixed(features(samples, count), units, seed=2) + 0.1 * units**-0.5 * noise.astype(np.float32)


def unrelated(samples, count=20, units=50):
    return mixed(features(samples, count, seed=11), units, seed=8)
