"""Hand-made features, independent of each other, that units see in random orthogonal directions.

Unrelated features are independent draws of the same kind. Each case is there with these as a
baseline, and without one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from toy.truths.case import ADD, NONE, REPLACE, REWEIGHT, SELECT, UNCHANGED, Recordings, cases

COUNT, UNITS = 20, 50
SAMPLES = 50 * COUNT
RANK = np.arange(1, COUNT + 1)
HARMONIC, STEEP = RANK**-0.5, 1.0 / RANK  # standard deviations, of variances 1/k and 1/k²
Rng = np.random.Generator
Draw = Callable[[Rng, int], np.ndarray]


def gaussian(rng: Rng, count: int = COUNT) -> np.ndarray:
    return rng.standard_normal((SAMPLES, count))


def heavy(rng: Rng, count: int = COUNT) -> np.ndarray:
    """Student's t of 5 degrees of freedom, of variance 1."""
    return rng.standard_t(5, (SAMPLES, count)) * 0.6**0.5


def sparse(rng: Rng, count: int = COUNT) -> np.ndarray:
    """Active in a tenth of the samples, positive, of variance near 1."""
    return 3.3 * (rng.random((SAMPLES, count)) < 0.1) * np.abs(rng.standard_normal((SAMPLES, count)))


def seen(rng: Rng, features: np.ndarray, noise: float = 0.02, units: int = UNITS) -> np.ndarray:
    """Features in random orthogonal directions of units, with means of the size of what varies, and noise.

    noise: its standard deviation over that of the responses.
    """
    frame = np.linalg.qr(rng.standard_normal((units, features.shape[1])))[0]
    values = features @ frame.T
    size = float(values.std(axis=0).mean())
    values = values + size * (3 * rng.standard_normal(units) + noise * rng.standard_normal(values.shape))
    return values.astype(np.float32)


def changed(change: Callable[[Rng, np.ndarray, Draw], np.ndarray], draw: Draw = gaussian, scale=1.0, noise=0.02):
    """`make` of a case: features of standard deviations `scale`, and what `change` makes of them, in new directions."""

    def make(rng: Rng) -> Recordings:
        old = draw(rng, COUNT) * scale
        new = change(rng, old, draw)
        other = draw(rng, COUNT) * scale
        return Recordings(seen(rng, old), seen(rng, new, noise), seen(rng, other))

    return make


def first(count: int, then=1.0):
    return lambda rng, old, draw: old[:, :count] * then


def scaled(by):
    return lambda rng, old, draw: old * by


def redrawn(kept: int, scale=1.0):
    """The first few are kept, the others drawn anew."""
    return lambda rng, old, draw: np.hstack([old[:, :kept], (draw(rng, COUNT) * scale)[:, kept:]])


def beside(count: int, scale=1.0):
    return lambda rng, old, draw: np.hstack([old, draw(rng, count) * scale])


def projected(count: int):
    """On a random subspace."""
    return lambda rng, old, draw: old @ np.linalg.qr(rng.standard_normal((COUNT, count)))[0]


def units(change: Callable[[Rng, np.ndarray], np.ndarray], draw: Draw = gaussian, scale=1.0):
    """`make` of a case in which it is the units' responses that change."""

    def make(rng: Rng) -> Recordings:
        before = seen(rng, draw(rng, COUNT) * scale)
        return Recordings(before, change(rng, before).astype(np.float32), seen(rng, draw(rng, COUNT) * scale))

    return make


def jittered(amount: float):
    return lambda rng, x: x + amount * x.std(axis=0).mean() * rng.standard_normal(x.shape)


def one_unit(of: Callable[[Rng], Recordings]):
    """A readout of one unit, before and after."""

    def make(rng: Rng) -> Recordings:
        layers = of(rng)
        readouts = [x @ rng.standard_normal((UNITS, 1)).astype(np.float32) for x in vars(layers).values()]
        return Recordings(*readouts)

    return make


def whitened(rng: Rng, old: np.ndarray, draw: Draw) -> np.ndarray:
    centred = old - old.mean(axis=0)
    return centred @ np.linalg.inv(np.linalg.cholesky(np.cov(centred.T))).T


LARGE = np.r_[20.0, np.ones(COUNT - 1)]  # one feature of 400 times the variance
HALF = np.r_[np.full(COUNT // 2, 3.0), np.ones(COUNT // 2)]
FADED = np.r_[np.ones(6), np.full(COUNT - 6, 0.005)]  # 14 features of .000025 times the variance of a kept one
GEOMETRIC = 30.0 ** (-0.5 * (RANK - 1) / (COUNT - 1))  # variances from 1 to 1/30
SMALLEST = [*range(COUNT - 3, COUNT)]

_TABLE = [  # name, truth, why, how the layer is made
    ("3 of 20 kept, equal variances", SELECT, "17 features are dropped", changed(first(3))),
    ("3 of 20 kept, variances 1/k, the largest", SELECT, "17 features are dropped", changed(first(3), scale=HARMONIC)),
    ("3 of 20 kept, variances 1/k, the smallest", SELECT, "17 features are dropped",
     changed(lambda rng, old, draw: old[:, SMALLEST], scale=HARMONIC)),
    ("20 of 20 kept, spectrum reversed", REWEIGHT, "variances 1/k become 1/(21 − k)",
     changed(scaled(HARMONIC[::-1] / HARMONIC), scale=HARMONIC)),
    ("one feature of 400 times the variance kept, 19 redrawn", REPLACE, "19 of 20 are new draws, 19 are dropped",
     changed(redrawn(1), scale=LARGE)),
    ("readout of one unit", NONE, "one unit has one dimension whatever happens", one_unit(changed(first(3)))),
    ("frozen", UNCHANGED, "the very same responses", units(lambda rng, x: x.copy())),
    ("frozen, 3 % of noise", UNCHANGED, "noise alone is added", units(jittered(0.03))),
    ("frozen, 1/k² spectrum, 1 % of noise", UNCHANGED, "noise alone is added", units(jittered(0.01), scale=STEEP)),
    ("rotated", UNCHANGED, "other directions of units", changed(first(COUNT))),
    ("rotated, 1/k² spectrum", UNCHANGED, "other directions of units", changed(first(COUNT), scale=STEEP)),
    ("rotated, one feature of 400 times the variance", UNCHANGED, "other directions of units",
     changed(first(COUNT), scale=LARGE)),
    ("rotated, heavy tails", UNCHANGED, "other directions of units", changed(first(COUNT), heavy)),
    ("rotated, sparse features", UNCHANGED, "other directions of units", changed(first(COUNT), sparse)),
    ("scaled", UNCHANGED, "all responses times one number", units(lambda rng, x: 0.03 * x)),
    ("permuted units", UNCHANGED, "units in another order", units(lambda rng, x: x[:, rng.permutation(x.shape[1])])),
    ("shifted", UNCHANGED, "each unit's mean is moved far",
     units(lambda rng, x: x + 20 * rng.standard_normal(x.shape[1]))),
    ("half of the features scaled by 3", REWEIGHT, "ten variances times 9", changed(scaled(HALF))),
    ("half of the sparse features scaled by 3", REWEIGHT, "ten variances times 9", changed(scaled(HALF), sparse)),
    ("whitened, variances 1/k²", REWEIGHT, "variances from 1 to 1/400 become equal", changed(whitened, scale=STEEP)),
    ("geometric spectrum reversed, heavy tails", REWEIGHT, "variances from 1 to 1/30 in reversed order",
     changed(scaled(GEOMETRIC[::-1] / GEOMETRIC), heavy, GEOMETRIC)),
    ("equal variances become 1/k²", REWEIGHT, "variances are multiplied by 1 to 1/400", changed(scaled(STEEP))),
    ("projected on 6 random dimensions", SELECT, "14 of 20 dimensions are dropped", changed(projected(6))),
    ("half of the features kept", SELECT, "10 of 20 are dropped", changed(first(10))),
    ("half of the features kept, 1/k² spectrum", SELECT, "every second of 20 is dropped",
     changed(lambda rng, old, draw: old[:, ::2], scale=STEEP)),
    ("5 of 20 kept, heavy tails", SELECT, "15 of 20 are dropped", changed(first(5), heavy)),
    ("5 of 20 kept, sparse features", SELECT, "15 of 20 are dropped", changed(first(5), sparse)),
    ("14 of 20 faded", SELECT, "14 of 20 keep .006 % of the variance after", changed(scaled(FADED), noise=0.01)),
    ("20 features beside 20", ADD, "as many independent draws come beside them", changed(beside(20))),
    ("10 features beside 20", ADD, "10 of the 30 after are independent draws", changed(beside(10))),
    ("20 features beside 20, variances 1/k", ADD, "as many independent draws, equally strong",
     changed(beside(20, HARMONIC), scale=HARMONIC)),
    ("20 sparse features beside 20", ADD, "as many independent draws come beside them", changed(beside(20), sparse)),
    ("15 heavy-tailed features beside 20", ADD, "15 of the 35 after are independent draws",
     changed(beside(15), heavy)),
    ("all redrawn", REPLACE, "all features are independent draws", changed(redrawn(0))),
    ("all redrawn, 1/k² spectrum", REPLACE, "all features are independent draws",
     changed(redrawn(0, STEEP), scale=STEEP)),
    ("all redrawn, heavy tails", REPLACE, "all features are independent draws", changed(redrawn(0), heavy)),
    ("all redrawn, sparse features", REPLACE, "all features are independent draws", changed(redrawn(0), sparse)),
    ("16 of 20 redrawn", REPLACE, "16 of 20 are independent draws, 16 are dropped", changed(redrawn(4))),
]  # fmt: skip


def _common(change):
    """Beside the features a large direction that all units share, as the overall size of an input would give."""

    def make(rng: Rng) -> Recordings:
        size, direction = 2 * rng.standard_normal((SAMPLES, 1)), np.ones((1, UNITS))
        layers = changed(change)(rng)
        return Recordings(*((x + size @ direction).astype(np.float32) for x in vars(layers).values()))

    return make


_TABLE += [
    ("rotated beside a large common direction", UNCHANGED, "all 20 and the common one remain", _common(first(COUNT))),
    ("all redrawn but a large common direction", REPLACE, "20 of 21 are independent draws", _common(redrawn(0))),
    ("4 of 20 kept beside a large common direction", SELECT, "16 of 21 are dropped", _common(first(4))),
]


def _alone(build: Callable[[Rng], Recordings]) -> Callable[[Rng], Recordings]:
    return lambda rng: replace(build(rng), baseline=None)


CASES = cases("made", _TABLE) + cases(
    "made", [(f"{name}, no baseline", truth, why, _alone(build)) for name, truth, why, build in _TABLE]
)
