"""How many dimensions a representation has, and how many of them two representations share.

From section G of "Feature reuse in multi-task learning and finetuning (appendix)". All of it is about responses less
their mean over samples, and blind to rotations, to a common scale, and to the order of samples and units.
"""

from collections.abc import Sequence
from functools import partial
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import ArrayLike

from carryover.networks.relu import Weights
from carryover.runs import measured_by_run
from carryover.streams import generator
from carryover.tasks.sparse import sphere

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
    in double precision, from the smaller one of X's two Gram matrices.

    Raises ValueError where X is not a finite array of this shape with two samples or more, or is the same at all of
    them, up to the rounding of its type.
    """
    return float(1 / _overlaps(centred("X", X))[0, 0])


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
        return _summary(_kernel_overlaps((start, end)))


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
        compared.append(centred(f"the hidden responses at the {when} of training", responses))
    return _summary(_overlaps(*compared))


def _summary(overlaps):
    return 1 / overlaps[1, 1], 1 / overlaps[0, 0], _shared(overlaps), _alignment(overlaps)


def _shared(overlaps):
    return overlaps[0, 1] / (overlaps[0, 0] * overlaps[1, 1])


def _alignment(overlaps):
    return overlaps[0, 1] / np.sqrt(overlaps[0, 0] * overlaps[1, 1])


def _pair(X: ArrayLike, Y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    x, y = centred("X", X), centred("Y", Y)
    if len(x) != len(y):
        raise ValueError(f"X and Y must have the same samples, got {len(x)} and {len(y)} of them")
    return x, y


def centred(name: str, values: ArrayLike, dtype: type = np.float64) -> np.ndarray:
    """Responses (samples, units) less their mean over samples, times a power of two that brings them to the order of 1.

    Computed in double precision, and stored as `dtype`. Raises ValueError for responses that are no numbers, not finite
    or the same for all samples, in one sentence about `name`.
    """
    values = np.asarray(values)
    if values.dtype.kind not in "biuf" or values.ndim != 2 or values.shape[0] < 2 or not values.shape[1]:
        raise ValueError(
            f"{name} must be numbers of shape (samples, units) with two samples or more, "
            f"got {values.dtype} of shape {values.shape}"
        )
    low, high = (np.asarray(extreme, dtype=np.float64) for extreme in (values.min(axis=0), values.max(axis=0)))
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        wrong = np.flatnonzero(~np.isfinite(values).all(axis=1))
        raise ValueError(f"{name} must be finite, and sample {wrong[0]} is not")
    if constant(low, high, values.dtype):
        raise ValueError(f"{name} must vary between samples")
    # The smallest responses, subtracted first, spare small variations about a large mean; powers of two round nothing.
    responses = np.subtract(values, low, out=np.empty(values.shape, dtype), casting="same_kind")
    responses *= 2.0 ** -max(np.frexp((high - low).max())[1], -1000)
    responses -= responses.mean(axis=0, dtype=np.float64)
    return responses


def _overlaps(*representations: np.ndarray) -> np.ndarray:
    """⟨K_i, K_j⟩ of the kernels K = XXᵀ/tr(XXᵀ) between samples, for i ≤ j: upper triangle of a square matrix.

    As ⟨XXᵀ, YYᵀ⟩ = ‖XᵀY‖², the matrices between units serve as well; the smaller ones are used.
    """
    if max(x.shape[1] for x in representations) > len(representations[0]):
        return _kernel_overlaps([x @ x.T for x in representations])
    overlaps, traces = np.zeros((len(representations),) * 2), [np.vdot(x, x) for x in representations]
    for i, j in combinations_with_replacement(range(len(representations)), 2):
        products = representations[i].T @ representations[j]
        overlaps[i, j] = np.vdot(products, products)
    return overlaps / np.outer(traces, traces)


def _kernel_overlaps(kernels: Sequence[np.ndarray]) -> np.ndarray:
    """`_overlaps` from kernels, times any number."""
    overlaps, traces = np.zeros((len(kernels),) * 2), [np.trace(kernel) for kernel in kernels]
    for i, j in combinations_with_replacement(range(len(kernels)), 2):
        overlaps[i, j] = np.vdot(kernels[i], kernels[j])
    return overlaps / np.outer(traces, traces)
