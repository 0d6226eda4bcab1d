"""How many dimensions a representation has, and how many of them two representations share.

From section G of "Feature reuse in multi-task learning and finetuning (appendix)". All of it is about responses less
their mean over samples, and blind to rotations, to a common scale, and to the order of samples and units.
"""

from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field

from carryover.config import plugins
from carryover.config.parameters import Model, parameter
from carryover.config.protocols import TRAINED
from carryover.networks.relu import Weights
from carryover.runs import measure_each_run
from carryover.streams import generator
from carryover.tasks.sparse import sphere

_EXTREME = 100  # exponent of two from which on differences are scaled before they are stored in single precision
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

    Examples
    --------
    >>> round(participation_ratio(np.eye(4)), 3)
    3.0
    """
    x = centre("X", X)
    gram = x @ x.T if x.shape[1] > len(x) else x.T @ x
    return float(np.trace(gram) ** 2 / np.vdot(gram, gram))


def ensd(X: ArrayLike, Y: ArrayLike) -> float:
    """Effective number of shared dimensions, tr(YᵀXXᵀY) tr(XᵀX) tr(YᵀY) / (tr(XᵀXXᵀX) tr(YᵀYYᵀY)), of centred X and Y.

    X: (samples, units), Y: (samples, other units), responses to the same inputs. It equals `cka` √(PR(X) PR(Y)) with
    the participation ratio PR. If X has ten uncorrelated units of equal variance and Y five of these, it is 5; it is 0
    if no unit of X is correlated with one of Y. Raises ValueError as `participation_ratio`, and where X and Y have
    different numbers of samples.

    Examples
    --------
    >>> X = np.eye(5)
    >>> bool(np.isclose(ensd(X, X), participation_ratio(X)))
    True
    """
    return float(compare_responses(X, Y)[2])


def cka(X: ArrayLike, Y: ArrayLike) -> float:
    """Linear centred kernel alignment ‖XᵀY‖² / (‖XᵀX‖ ‖YᵀY‖) of centred X and Y, between 0 and 1.

    Arguments and errors are those of `ensd`.

    Examples
    --------
    >>> bool(np.isclose(cka(np.eye(3), 2 * np.eye(3)), 1))
    True
    """
    return float(compare_responses(X, Y)[3])


def compare_responses(
    start: ArrayLike, end: ArrayLike, *, names: tuple[str, str] = ("X", "Y")
) -> tuple[float, float, float, float]:
    """PR at the end, PR at the start, ENSD and CKA, in the order of MEANING, of responses as `cka` takes them; errors
    call them by `names`."""
    x, y = centre(names[0], start), centre(names[1], end)
    if len(x) != len(y):
        raise ValueError(f"{names[0]} and {names[1]} must have the same samples, got {len(x)} and {len(y)} of them")
    if max(x.shape[1], y.shape[1]) > len(x):
        return compare_kernels(x @ x.T, y @ y.T)
    # The inner product of the kernels XXᵀ and YYᵀ is |XᵀY|²: the matrices between units, which are smaller, serve too.
    kk, kl, ll = (np.square(a.T @ b).sum() for a, b in ((x, x), (x, y), (y, y)))
    return summarise(kk, kl, ll, np.vdot(x, x), np.vdot(y, y))


def compare_kernels(start: np.ndarray, end: np.ndarray) -> tuple[float, float, float, float]:
    """PR at the end, PR at the start, ENSD and CKA, in the order of MEANING, from kernels K = XXᵀ between samples.

    start, end: (samples, samples) in double precision and C order, of responses less their mean over samples. Constant
    responses have the kernel 0, with which all results that depend on it are NaN.
    """
    # The inner products ⟨K, K⟩, ⟨K, L⟩ and ⟨L, L⟩ of the kernels K at the start and L at the end.
    kk, kl, ll = (np.vdot(a, b) for a, b in ((start, start), (start, end), (end, end)))
    return summarise(kk, kl, ll, np.trace(start), np.trace(end))


def summarise(kk, kl, ll, trace_k, trace_l):
    """As `compare_kernels`, from the numbers ⟨K, K⟩, ⟨K, L⟩, ⟨L, L⟩, tr K and tr L of kernels K at the start, L at the
    end."""
    with np.errstate(invalid="ignore"):
        kk, kl, ll = kk / trace_k**2, kl / (trace_k * trace_l), ll / trace_l**2
        return 1 / ll, 1 / kk, kl / (kk * ll), kl / np.sqrt(kk * ll)


def constant(low: np.ndarray, high: np.ndarray, dtype: np.dtype | type) -> bool:
    """Whether responses between `low` (units,) and `high` (units,) are the same, up to the rounding of their type."""
    # Halves, for the difference of finite numbers may overflow.
    rounding = _ROUNDING * np.finfo(dtype).eps if np.dtype(dtype).kind == "f" else 0
    return bool(np.all(high / 2 - low / 2 <= rounding / 2 * np.maximum(np.abs(low), np.abs(high))))


class Dimensionality(Model):
    samples: Annotated[int, Field(ge=2)] = parameter(2000, "inputs at which responses are taken")


@plugins.measure(needs=["first", "second", "start_first", "start_second"], applies_to=TRAINED)
def dimensionality(data, p: Dimensionality):
    """Dimensionality of the hidden responses at the end and at the start of training, and what both share, (run,).

    All networks respond to the same inputs, uniform on the sphere. Raises UserError naming a run whose responses are
    constant or not finite.
    """
    inputs = sphere(generator("dimensionality", "", 0, "inputs"), p.samples, data.sizes["input"])
    names = "the hidden responses at the start of training", "the hidden responses at the end of training"

    def of_run(network):
        with np.errstate(invalid="ignore", over="ignore"):  # weights that are not finite are refused by name
            start, end = (Weights.of_dataset(network, prefix).responses(inputs) for prefix in ("start_", ""))
        values = compare_responses(start, end, names=names)
        return {name: (value, MEANING[name]) for name, value in zip(MEANING, values, strict=True)}

    return measure_each_run(data, of_run)


def centre(name: str, values: ArrayLike, dtype: type = np.float64) -> np.ndarray:
    """Responses (samples, units) less their mean over samples, times a power of two that brings them to the order of 1.

    Means are computed in double precision, the result is stored as `dtype`. Raises ValueError, in one sentence about
    `name`, for responses that are not numbers, not finite, or the same for all samples.
    """
    values = np.asarray(values)
    if values.dtype.kind not in "biuf" or values.ndim != 2 or values.shape[0] < 2 or not values.shape[1]:
        raise ValueError(
            f"{name} must be numbers of shape (samples, units) with two samples or more, "
            f"got {values.dtype} of shape {values.shape}"
        )
    low, high = (np.asarray(extreme, dtype=np.float64) for extreme in (values.min(axis=0), values.max(axis=0)))
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        not_finite = np.flatnonzero(~np.isfinite(values).all(axis=1))
        raise ValueError(f"{name} must be finite, and sample {not_finite[0]} is not")
    if constant(low, high, values.dtype):
        raise ValueError(f"{name} must vary between samples")
    exponent = np.frexp((high / 2 - low / 2).max())[1] + 1  # of the largest difference, which may itself overflow
    if abs(exponent) > _EXTREME:
        values = np.asarray(np.ldexp(values.astype(float), -exponent))
        low, exponent = np.ldexp(low, -exponent), 0
    # Subtracting the smallest responses first preserves small variations about a large mean; powers of two are exact.
    responses = np.subtract(values, low, out=np.empty(values.shape, dtype), casting="same_kind")
    responses *= 2.0**-exponent
    responses -= responses.mean(axis=0, dtype=np.float64)
    return responses
