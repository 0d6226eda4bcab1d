"""How many dimensions a representation has, and how many of them two representations share.

From section G of "Feature reuse in multi-task learning and finetuning (appendix)". All of it is about responses less
their mean over samples, and blind to rotations, to a common scale, and to the order of samples and units.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg.blas import dsyrk

from carryover.networks.relu import Weights
from carryover.runs import measured_by_run
from carryover.streams import generator
from carryover.tasks.sparse import sphere

_BLOCK = 2**21  # numbers that are held in double precision at a time: 16 MiB
_ROUNDING = 8  # units in the last place: responses that vary less are constant

MEANING = {
    "participation_ratio": "participation ratio of the hidden responses at the end of training",
    "participation_ratio_start": "participation ratio of the hidden responses at the start of training",
    "ensd": "effective number of dimensions shared by the hidden responses at start and end of training",
    "cka": "linear centred kernel alignment of the hidden responses at start and end of training",
}


def participation_ratio(X: ArrayLike) -> float:
    """Effective number of dimensions PR = (Σλ)² / Σλ² = tr(C)² / tr(C²) of responses with covariance C.

    X: (samples, units), in any units: the ratio has none. It lies between 1 and the rank of X less its mean. Computed
    in double precision, block by block, from the smaller one of X's two Gram matrices.

    Raises ValueError where X is not a finite array of this shape with two samples or more, or is the same at all of
    them, up to the rounding of its type.
    """
    return float(1 / _overlaps(_Responses.of("X", X))[0, 0])


def ensd(X: ArrayLike, Y: ArrayLike) -> float:
    """Effective number of shared dimensions, tr(YᵀXXᵀY) tr(XᵀX) tr(YᵀY) / (tr(XᵀXXᵀX) tr(YᵀYYᵀY)), of centred X and Y.

    X: (samples, units), Y: (samples, other units), responses to the same inputs. It is `cka` times √(PR(X) PR(Y)): 5
    for ten uncorrelated units of equal variance and five of them, 0 if nothing is shared. Raises ValueError as
    `participation_ratio`, and where X and Y have different numbers of samples.
    """
    return float(_shared(_overlaps(*_pair(X, Y))))


def cka(X: ArrayLike, Y: ArrayLike) -> float:
    """Linear centred kernel alignment ‖XᵀY‖² / (‖XᵀX‖ ‖YᵀY‖) of centred X and Y, between 0 and 1.

    Arguments and errors are those of `ensd`.
    """
    return float(_alignment(_overlaps(*_pair(X, Y))))


def compare_kernels(start: np.ndarray, end: np.ndarray) -> tuple[float, float, float, float]:
    """PR at the end, PR at the start, ENSD and CKA, in the order of MEANING, from kernels K = XXᵀ between samples.

    start, end: (samples, samples) in double precision and C order, of responses less their mean over samples. Where
    one is 0, of responses that are constant, what needs it is NaN.
    """
    with np.errstate(invalid="ignore"):
        return _summary(_kernel_overlaps((start, end), np.vdot))


def compare_responses(start: ArrayLike, end: ArrayLike) -> tuple[float, float, float, float]:
    """PR at the end, PR at the start, ENSD and CKA, in the order of MEANING, of responses as `cka` takes them."""
    return _summary(_overlaps(*_pair(start, end)))


def constant(low: np.ndarray, high: np.ndarray, dtype: np.dtype | type) -> bool:
    """Whether responses between `low` (units,) and `high` (units,) are the same, up to the rounding of their type."""
    rounding = _ROUNDING * np.finfo(dtype).eps if np.dtype(dtype).kind == "f" else 0
    return bool(np.all(high - low <= rounding * np.maximum(np.abs(low), np.abs(high))))


def measure(data, p):
    """Dimensionality of the hidden responses at the end and at the start of training, and what both share, (run,).

    All networks respond to the same inputs, uniform on the sphere. Raises UserError naming a run whose responses are
    constant or not finite.
    """
    inputs = sphere(generator("dimensionality", "", 0, "inputs"), p.samples, data.sizes["input"])
    return measured_by_run(data, partial(_compare, inputs=inputs), MEANING)


def _compare(network, inputs):
    """PR at the end and at the start, ENSD and CKA of one run."""
    compared = []
    for when, prefix in (("start", "start_"), ("end", "")):
        weights = Weights(network[f"{prefix}first"].values, network[f"{prefix}second"].values)
        with np.errstate(invalid="ignore", over="ignore"):  # weights that are not finite are refused by name below
            responses = weights.responses(inputs)
        compared.append(_Responses.of(f"the hidden responses at the {when} of training", responses))
    return _summary(_overlaps(*compared))


def _summary(overlaps):
    return 1 / overlaps[1, 1], 1 / overlaps[0, 0], _shared(overlaps), _alignment(overlaps)


def _shared(overlaps):
    return overlaps[0, 1] / (overlaps[0, 0] * overlaps[1, 1])


def _alignment(overlaps):
    return overlaps[0, 1] / np.sqrt(overlaps[0, 0] * overlaps[1, 1])


def _pair(X: ArrayLike, Y: ArrayLike) -> tuple[_Responses, _Responses]:
    x, y = _Responses.of("X", X), _Responses.of("Y", Y)
    if len(x.values) != len(y.values):
        raise ValueError(f"X and Y must have the same samples, got {len(x.values)} and {len(y.values)} of them")
    return x, y


def _overlaps(*representations: _Responses) -> np.ndarray:
    """⟨K_i, K_j⟩ of the kernels K = XXᵀ/tr(XXᵀ) between samples, for i ≤ j: upper triangle of a square matrix.

    As ⟨XXᵀ, YYᵀ⟩ = ‖XᵀY‖², the matrices between units serve as well; the smaller ones are used.
    """
    if max(x.values.shape[1] for x in representations) > len(representations[0].values):
        return _kernel_overlaps([_kernel(x) for x in representations], _triangles)
    overlaps, traces = np.zeros((len(representations),) * 2), np.zeros(len(representations))
    for i, j in combinations_with_replacement(range(len(representations)), 2):
        products = _products(representations[i], representations[j])
        overlaps[i, j] = np.vdot(products, products)
        if i == j:
            traces[i] = np.trace(products)
    return overlaps / np.outer(traces, traces)


def _kernel_overlaps(kernels: Sequence[np.ndarray], inner: Callable[[np.ndarray, np.ndarray], float]) -> np.ndarray:
    """`_overlaps` from kernels, times any number, of which `inner` gives ⟨K, L⟩."""
    overlaps, traces = np.zeros((len(kernels),) * 2), [np.trace(kernel) for kernel in kernels]
    for i, j in combinations_with_replacement(range(len(kernels)), 2):
        overlaps[i, j] = inner(kernels[i], kernels[j])
    return overlaps / np.outer(traces, traces)


def _kernel(x: _Responses) -> np.ndarray:
    """XXᵀ, (samples, samples), its lower triangle alone."""
    samples = len(x.values)
    total = np.zeros((samples, samples), order="F")
    for block in x.blocks(1, _BLOCK // samples):
        total = dsyrk(1.0, block.T, trans=1, beta=1.0, c=total, overwrite_c=1)  # copies neither total nor block
    return total.T


def _triangles(a: np.ndarray, b: np.ndarray) -> float:
    """⟨A, B⟩ of symmetric matrices, each given by one triangle and zeros."""
    return 2 * np.vdot(a, b) - np.vdot(np.diag(a), np.diag(b))


def _products(x: _Responses, y: _Responses) -> np.ndarray:
    """XᵀY, (units, other units)."""
    step = _BLOCK // max(x.values.shape[1], y.values.shape[1])
    if x is y:
        return sum(block.T @ block for block in x.blocks(0, step))
    return sum(a.T @ b for a, b in zip(x.blocks(0, step), y.blocks(0, step), strict=True))


@dataclass(frozen=True)
class _Responses:
    """Responses `values` (samples, units), handed out in centred double precision block by block."""

    values: np.ndarray
    low: np.ndarray  # (units,) smallest responses: subtracted first, they spare small variations about a large mean
    scale: float  # a power of two that brings the responses to the order of 1
    mean: np.ndarray  # (units,) of the responses less `low`, scaled

    @classmethod
    def of(cls, name: str, values: ArrayLike) -> _Responses:
        """Raises ValueError for what has no dimensions, in one sentence about `name`."""
        values = np.asarray(values)
        if values.dtype.kind not in "biuf" or values.ndim != 2 or values.shape[0] < 2 or not values.shape[1]:
            raise ValueError(
                f"{name} must be numbers of shape (samples, units) with two samples or more, "
                f"got {values.dtype} of shape {values.shape}"
            )
        low, high = (np.asarray(extreme, dtype=np.float64) for extreme in (values.min(axis=0), values.max(axis=0)))
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            raise ValueError(f"{name} must be finite")
        if constant(low, high, values.dtype):
            raise ValueError(f"{name} must vary between samples")
        scale = 2.0 ** -max(np.frexp((high - low).max())[1], -1000)
        shifted = cls(values, low, scale, np.zeros_like(low))
        return cls(values, low, scale, sum(block.sum(axis=0) for block in shifted.blocks(0)) / len(values))

    def blocks(self, axis: int, step: int = 0) -> Iterator[np.ndarray]:
        """`step` samples (axis 0) or units (axis 1) at a time and all of the rest, (samples, units) each."""
        step = max(1, step or _BLOCK // self.values.shape[1])
        for start in range(0, self.values.shape[axis], step):
            some = slice(start, start + step)
            rows, units = (some, slice(None)) if axis == 0 else (slice(None), some)
            block = self.values[rows, units].astype(np.float64, order="C")
            block -= self.low[units]
            block *= self.scale
            block -= self.mean[units]
            yield block
