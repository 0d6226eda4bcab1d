"""Small ensembles of ReLU networks for tests, and how two trainings are compared."""

import dataclasses

import numpy as np
from torch.nn import functional as F

from carryover.networks.relu import Weights
from carryover.training.result import Samples
from rounding import assert_alike

EXACT = {"precision": "float64", "device": "cpu"}
OBJECTIVES = {
    "squared": F.mse_loss,
    "cross_entropy": lambda f, y: F.binary_cross_entropy_with_logits(f, (y + 1) / 2),
}
"""The losses, by PyTorch's own functions."""


def ensemble(seed=0, runs=3, samples=(5,), D=4, H=6, scale=0.5, loss="squared", sets=None):
    """Tasks and weights; the runs have inputs of their own unless `sets` says which they share."""
    rng = np.random.default_rng(seed)
    sets = np.arange(runs) if sets is None else np.asarray(sets)
    tasks = []
    for n in samples:
        y = rng.standard_normal((runs, n))
        tasks.append(Samples(rng.standard_normal((sets.max() + 1, n, D)), np.sign(y) if loss != "squared" else y, sets))
    return tasks, Weights(
        scale * rng.standard_normal((runs, H, D)), scale * rng.standard_normal((runs, len(samples), H))
    )


def part(tasks, w, run):
    """The same with one run alone."""
    pick = slice(run, run + 1)
    return [Samples(t.X, t.y[pick], t.sets[pick]) for t in tasks], Weights(w.first[pick], w.second[pick])


def assert_same(one, other, run=slice(None), share=0.0):
    """Two trainings have the same weights, records and curves, up to `share` of the largest number of each."""
    fields = [f.name for f in dataclasses.fields(one) if f.name not in ("weights", "curves", "measured")]
    pairs = {name: (getattr(one, name), getattr(other, name)[run]) for name in fields}
    pairs |= {name: (one.measured[name], other.measured[name][run]) for name in other.measured}
    pairs |= {name: (getattr(one.weights, name), getattr(other.weights, name)[run]) for name in ("first", "second")}
    pairs |= {name: (one.curves[name], other.curves[name][run]) for name in other.curves}
    for name, (found, expected) in pairs.items():
        assert_alike(found, expected, share, name)
