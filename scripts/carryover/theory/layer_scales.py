"""How large each layer is before pretraining, and what finetuning then costs: exact for diagonal and linear networks.

The four papers give both layers one scale; Anguita et al. (arXiv 2602.20062) vary it in diagonal networks. Let
a dimension, β = u₊v₊ − u₋v₋, start pretraining with first-layer weights u and readouts v on both paths:

    c = u² + v²  (the scale),      λ = u² − v²  (the balance),      |λ| ≤ c.

Gradient flow keeps u₊² − v₊² = u₋² − v₋² = λ. It multiplies u₊ + v₊ and u₋ − v₋ by e^{z/2}, and u₊ − v₊ and u₋ + v₋ by
e^{−z/2} ("Feature reuse", appendix A, eqs 10–17). So u± = u cosh(z/2) ± v sinh(z/2), β = c sinh z, and

    u₊² + u₋² = u² (cosh z + 1) + v² (cosh z − 1) = λ + c cosh z = λ + √(c² + β²).

A dimension that pretraining does not need keeps u₊ = u₋ = u. Finetuning begins there with a new readout, γ on both
paths. If u₊ = u₋, its penalty is the Q of eq 22 with the scale k = u² + γ²; in general `norms.flow_penalty` has it.

In linear networks W₂W₁ of two layers the balance is that of matrices, W₁W₁ᵀ − W₂ᵀW₂ = λI (arXiv 2409.14623, with the
other sign).
"""

import numpy as np
from numpy.typing import ArrayLike

from carryover.theory.arguments import Array, broadcast

_LONGEST = 4.0
"""Largest exponent in one step of `balanced_flow`: that of the square root of its numbers' digits would lose them."""


def pretrained_first_layer(beta: ArrayLike, scale: ArrayLike, balance: ArrayLike) -> tuple[Array, Array]:
    """First-layer weights (u₊, u₋) of a diagonal network β = u₊v₊ − u₋v₋ after pretraining.

    Parameters
    ----------
    beta : coefficients β of the auxiliary task, which pretraining has reached
    scale, balance : c = u² + v² and λ = u² − v² before pretraining, when both paths have first-layer weights u and
        readouts v; ValueError for a scale below 0, or |λ| above it

    Returns
    -------
    Two arrays of the shape to which the arguments broadcast.

    Examples
    --------
    >>> np.round(pretrained_first_layer(1.0, scale=0.0, balance=0.0), 3)
    array([1., 0.])
    """
    beta, scale, balance = _checked(beta, scale, balance)
    first, readout = np.sqrt((scale + balance) / 2), np.sqrt((scale - balance) / 2)
    # u± = u cosh(z/2) ± v sinh(z/2) with sinh z = |β|/c (see the module); for β < 0 the two paths change places.
    with np.errstate(divide="ignore", invalid="ignore"):
        half = np.arcsinh(np.abs(beta) / scale) / 2
        mean, difference = first * np.cosh(half), readout * np.sinh(half)
    # In the limit c → 0 of balanced layers one path alone has β: u₊ = √|β|, u₋ = 0.
    mean, difference = (np.where(scale == 0, np.sqrt(np.abs(beta)) / 2, part) for part in (mean, difference))
    larger, smaller = mean + difference, mean - difference
    return np.where(beta < 0, smaller, larger)[()], np.where(beta < 0, larger, smaller)[()]


def finetuning_scale(beta: ArrayLike, scale: ArrayLike, balance: ArrayLike, readout: ArrayLike) -> Array:
    """Scale k = ½ (λ + √(c² + β²)) + γ² of the Q penalty (eq 22) of finetuning after pretraining to the coefficients β.

    That penalty holds for equal first-layer weights on both paths, so u₊² and u₋² are replaced by their mean. The
    penalty of a coefficient β' after finetuning is like ℓ₁ for |β'| ≫ k, like ℓ₂ for |β'| ≪ k, and falls with k.

    Parameters
    ----------
    beta, scale, balance : β, c and λ as in `pretrained_first_layer`
    readout : γ, the readout weight at the start of finetuning, equal on both paths

    Returns
    -------
    k, of the shape to which the arguments broadcast

    Examples
    --------
    Pretraining learned 40 of 1000 features, and finetuning must find 5 of them from 64 samples. The risk is nearly that
    of the zero function, 1, if the layers were balanced, and small if the first layer was small:

    >>> from carryover.theory.interpolation import interpolation_risk
    >>> learned, counts, task = [40**-0.5, 40**-0.5, 0], [5, 35, 960], [5**-0.5, 0, 0]
    >>> for balance in (0.0, -1.0 + 2e-6):  # first-layer weights u = 0.7 and 0.001 before pretraining
    ...     k = finetuning_scale(learned, scale=1.0, balance=balance, readout=1e-3)
    ...     print(f"{interpolation_risk(64, counts, task, k / 2, k / 2):.2g}")
    0.93
    6e-05
    """
    beta, scale, balance = _checked(beta, scale, balance)
    return (balance + np.hypot(scale, beta)) / 2 + np.square(readout)


def finetuning_rates(beta: ArrayLike, scale: ArrayLike, balance: ArrayLike, readout: ArrayLike) -> tuple[Array, Array]:
    """A and B of `norms.flow_penalty` for finetuning from the real u₊ and u₋, as `interpolation_risk` takes them.

    Parameters are those of `finetuning_scale`, which is 2√(AB) up to what u₊ ≠ u₋ makes of it.
    """
    plus, minus = pretrained_first_layer(beta, scale, balance)
    up, down = (
        (plus + sign * np.asarray(readout)) ** 2 + (minus - sign * np.asarray(readout)) ** 2 for sign in (1, -1)
    )
    return up / 4, down / 4


def task_kinds(dimension: int, auxiliary: ArrayLike, main: ArrayLike, shared: ArrayLike) -> tuple[Array, Array, Array]:
    """Numbers of dimensions, main coefficients and auxiliary ones, each (..., 4): of dimensions that both tasks have,
    the main one, the auxiliary one, and none. Arguments are the numbers of features; coefficients are 1/√k each."""
    k, auxiliary, shared = np.broadcast_arrays(np.asarray(main, float), auxiliary, shared)
    counts = np.stack([shared, k - shared, auxiliary - shared, dimension - auxiliary - k + shared], axis=-1)
    return counts, k[..., None] ** -0.5 * [1, 1, 0, 0], auxiliary[..., None] ** -0.5 * [1, 0, 1, 0]


def balanced_flow(times: ArrayLike, first: ArrayLike, second: ArrayLike, target: ArrayLike) -> Array:
    """The flow of a two-layer linear network on ½‖W₂W₁ − Σ‖²: whitened inputs, all samples.

    With Q = (W₁ᵀ; W₂) and M = QQᵀ it obeys Ṁ = FM + MF − M², F = [[λ/2, Σᵀ], [Σ, −λ/2]], whose solution is

        M(t) = e^{Ft} Q₀ (I + ½ Q₀ᵀ F⁻¹ (e^{2Ft} − I) Q₀)⁻¹ Q₀ᵀ e^{Ft}.

    Parameters
    ----------
    times : (T,) increasing, from 0
    first, second : (H, D) and (O, H) weights before training, of W₁W₁ᵀ − W₂ᵀW₂ = λI; ValueError for others
    target : (O, D)

    Returns
    -------
    (T, D + O, D + O), with W₁ᵀW₁ in the first D rows and columns, W₂W₁ below and W₂W₂ᵀ next to that.
    """
    first, second, target = (np.asarray(a, dtype=float) for a in (first, second, target))
    difference = first @ first.T - second.T @ second
    balance = np.trace(difference) / len(difference)
    if not np.allclose(
        difference, balance * np.eye(len(difference)), rtol=0, atol=1e-12 * (np.sum(first**2) + np.sum(second**2))
    ):
        raise ValueError("first and second must be balanced: W₁W₁ᵀ − W₂ᵀW₂ must be a multiple of I")
    times = np.atleast_1d(np.asarray(times, dtype=float))
    if (np.diff(times, prepend=0.0) < 0).any():
        raise ValueError("times must rise from 0")
    (outputs, inputs), identity = target.shape, np.eye(len(difference))
    F = np.block([[balance / 2 * np.eye(inputs), target.T], [target, -balance / 2 * np.eye(outputs)]])
    values, vectors = np.linalg.eigh(F)
    Q, before, found = np.concatenate([first.T, second]), 0.0, []
    for time in times:
        # The solution over a long time has e^{2Ft}, in which small features drown. Over short ones it is exact as well,
        # and CCᵀ = I + ½ Q₀ᵀ … Q₀ gives a Q from which it goes on: Q = e^{Ft} Q₀ C⁻ᵀ.
        steps = int(np.ceil((time - before) * np.abs(values).max() / _LONGEST))
        step = (time - before) / max(steps, 1)
        growth = (vectors * np.exp(values * step)) @ vectors.T
        with np.errstate(divide="ignore", invalid="ignore"):
            integral = np.where(values == 0, 2 * step, np.expm1(2 * values * step) / values)
        for _ in range(steps):
            along = vectors.T @ Q
            C = np.linalg.cholesky(identity + along.T @ (integral[:, None] * along) / 2)
            Q = np.linalg.solve(C, (growth @ Q).T).T
        before = time
        found.append(Q @ Q.T)
    return np.stack(found)


def _checked(beta: ArrayLike, scale: ArrayLike, balance: ArrayLike) -> list[Array]:
    """Arrays of one shape; ValueError for a negative scale, or a balance that is larger than the scale."""
    beta, scale, balance = broadcast(beta=beta, scale=scale, balance=balance)
    if (scale < 0).any() or (np.abs(balance) > scale).any():
        raise ValueError("scale must be at least 0, and balance between −scale and scale")
    return [beta, scale, balance]
