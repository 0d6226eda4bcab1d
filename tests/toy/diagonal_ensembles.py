"""Small ensembles of diagonal networks for tests."""

import numpy as np

from carryover.networks.diagonal import Weights


def ensemble(seed=0, runs=3, samples=(4,), D=7, scale=0.3, taught=False):
    """Inputs and targets of every output, and weights; targets are random, or those of a linear teacher."""
    rng = np.random.default_rng(seed)
    X = [rng.standard_normal((runs, n, D)) for n in samples]
    if taught:
        y = [np.einsum("rnd,rd->rn", x, rng.standard_normal((runs, D))) for x in X]
    else:
        y = [rng.standard_normal((runs, n)) for n in samples]
    first = [scale * rng.choice([-1, 1], (runs, D)) for _ in range(2)]
    second = [scale * np.exp(0.3 * rng.standard_normal((runs, len(samples), D))) for _ in range(2)]
    return X, y, Weights(*first, *second)


def part(X, y, w, run):
    """The same with one run alone."""
    pick = slice(run, run + 1)
    return [x[pick] for x in X], [t[pick] for t in y], w[pick]
