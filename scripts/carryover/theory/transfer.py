"""Risks of transfer between two linear functions in high dimensions, and when transfer is worse than starting anew.

From "Features are fate: a theory of transfer learning in high-dimensional regression". Source and target are
f(x) = β·x of x ~ N(0, I_d), |β_s| = 1, at an angle θ; n = γd samples of the target carry label noise of variance σ².
Risks are E(f̂(x) − f_t(x))², without the noise of a test label, averaged over training sets; γ formulas are the limit
d → ∞. Transferability is the risk of training from scratch less that of transfer: negative where transfer hurts.

Everything is dimensionless, angles are in radians, arguments broadcast, and scalars give scalars. The target's norm is
1. One of norm κ has κ² times the risk at σ/κ, except after finetuning, whose functions take κ as `target_norm`. Every
function raises ValueError for arguments that do not broadcast or are out of range: γ > 0, θ in [0, π], σ ≥ 0, κ > 0,
ridge ≥ 0, n and depth whole numbers from 1.
"""

import numpy as np
from numpy.typing import ArrayLike

from carryover.theory.arguments import Array, broadcast

_NEWTON_STEPS = 100  # 4-8 in general
_TOLERANCE = 4 * np.finfo(float).eps


def scratch_risk(gamma: ArrayLike, sigma: ArrayLike) -> Array:
    """Equation 8, the risk of the minimum-norm solution X⁺y: 1 − γ + σ²γ/(1 − γ) for γ < 1, σ²/(γ − 1) for γ > 1.

    γ = n/d is the number of samples per dimension, and σ² the variance of the label noise. At γ = 1 the risk is
    infinite for σ > 0 and 0 for σ = 0.

    Examples
    --------
    >>> scratch_risk([0.5, 1.0, 2.0], sigma=0.2)
    array([0.54,  inf, 0.04])
    """
    gamma, sigma = broadcast(gamma=gamma, sigma=sigma)
    return (np.maximum(1 - gamma, 0) + _noise_risk(gamma, sigma))[()]


def linear_transfer_risk(theta: ArrayLike, sigma: ArrayLike, n: ArrayLike) -> Array:
    """Equation 10, the risk where only the readout is trained: sin²θ + (σ² + sin²θ)/(n − 2).

    Exact in every dimension: after pretraining the features span β_s alone. For n of 1 or 2 the mean is infinite,
    unless σ = sin θ = 0.

    Examples
    --------
    >>> float(linear_transfer_risk(np.pi / 6, sigma=0.0, n=102).round(4))
    0.2525
    """
    theta, sigma, n = broadcast(theta=theta, sigma=sigma, n=n)
    missed = _sine(theta) ** 2
    excess = missed + sigma**2
    return (missed + np.where(excess == 0, 0.0, np.where(n > 2, excess / np.where(n > 2, n - 2, 1), np.inf)))[()]


def linear_transferability(gamma: ArrayLike, theta: ArrayLike, sigma: ArrayLike) -> Array:
    """Equation 11: `scratch_risk` minus sin²θ, the risk of linear transfer in the limit n, d → ∞ at γ = n/d.

    It is positive where linear transfer, at the angle θ between source and target, beats training from scratch.

    Examples
    --------
    >>> linear_transferability(gamma=[0.1, 0.9], theta=np.pi / 4, sigma=0.0)
    array([ 0.4, -0.4])
    """
    gamma, theta, sigma = broadcast(gamma=gamma, theta=theta, sigma=sigma)
    return scratch_risk(gamma, sigma) - _sine(theta)[()] ** 2


def negative_transfer_interval(theta: ArrayLike, sigma: ArrayLike) -> tuple[Array, Array]:
    """(low, high): linear transfer is negative for low < γ < high ≤ 1; NaN where it is for no γ < 1.

    Section 3.3: the roots of γ² − (1 + cos²θ − σ²)γ + cos²θ, which are real and in [0, 1] where σ < 1 − |cos θ|. (The
    paper prints the interval as (γ₊, γ₋), its ends exchanged, and its condition on θ for θ ≤ π/2.)

    Examples
    --------
    >>> [float(end.round(3)) for end in negative_transfer_interval(np.pi / 4, sigma=0.0)]
    [0.5, 1.0]
    """
    theta, sigma = broadcast(theta=theta, sigma=sigma)
    acute = np.minimum(theta, np.pi - theta)
    cosine, gap = np.cos(acute), 2 * np.sin(acute / 2) ** 2  # gap = 1 − |cos θ| without cancellation
    # The discriminant in factors, so that it does not cancel where the interval closes.
    root = np.sqrt(np.where(sigma < gap, (gap - sigma) * (gap + sigma) * ((1 + cosine) ** 2 - sigma**2), np.nan))
    high = np.minimum((1 + cosine**2 - sigma**2 + root) / 2, 1)
    return (cosine**2 / high)[()], high[()]


def negative_transfer_threshold(theta: ArrayLike, sigma: ArrayLike) -> Array:
    """γ = n/d > 1 above which training from scratch beats linear transfer: 1 + σ²/sin²θ (section 3.3).

    It is infinite at θ = 0 and θ = π, where the pretrained features determine the target up to its scale.
    """
    theta, sigma = broadcast(theta=theta, sigma=sigma)
    sine = _sine(theta)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        return np.where(sine == 0, np.inf, 1 + (sigma / sine) ** 2)[()]


def ridge_transfer_risk(theta: ArrayLike, ridge: ArrayLike, n: ArrayLike | None = None, sigma: ArrayLike = 0) -> Array:
    """Risk of linear transfer whose readout w minimises half the mean squared error plus λ |w|²/2, with λ = `ridge`.

    Without n it is the limit n → ∞, equation 13: 1 − cos²θ (1 + 2λ)/(1 + λ)², which does not depend on the noise. For
    n ≥ 1 it follows from equations 125–127, with s ~ χ²_n and a = nλ:

        sin²θ + E[(a² cos²θ + s (sin²θ + σ²))/(s + a)²].

    At ridge = 0 this is equation 10, infinite for n ≤ 2 unless σ = sin θ = 0.

    Examples
    --------
    >>> float(ridge_transfer_risk(np.pi / 4, ridge=0.0).round(3))
    0.5
    """
    theta, sigma, ridge = broadcast(theta=theta, sigma=sigma, ridge=ridge)
    sine_squared, cosine_squared = _sine(theta) ** 2, np.cos(theta) ** 2
    if n is None:
        return (sine_squared + cosine_squared * (ridge / (1 + ridge)) ** 2)[()]
    from scipy.integrate import tanhsinh  # here, since trainers import this module for less
    from scipy.stats import chi

    noise = sine_squared + sigma**2  # the part of the target that the features lack acts as noise
    _, n = broadcast(ridge=ridge, n=n)

    def density(r: Array, n: Array, a: Array, cosine_squared: Array, noise: Array) -> Array:
        return (a**2 * cosine_squared + r**2 * noise) / np.where(r > 0, r**2 + a, 1.0) ** 2 * chi.pdf(r, n)

    # The expectation is an integral over r = √s, whose standard deviation is below 1, so that nearly all of its mass is
    # within 9 of √n. `minlevel`: coarse levels of the quadrature may agree by chance, which would end it too early.
    ends = np.maximum(np.sqrt(n) - 9, 0), np.sqrt(n) + 9
    mean = tanhsinh(density, *ends, args=(n, n * ridge, cosine_squared, noise), minlevel=5, rtol=1e-10).integral
    return (sine_squared + np.where((ridge == 0) & (n <= 2) & (noise > 0), np.inf, mean))[()]


def optimal_ridge(theta: ArrayLike, sigma: ArrayLike, n: ArrayLike) -> Array:
    """The ridge λ that minimises `ridge_transfer_risk` (equation 125): (sin²θ + σ²)/(n cos²θ), exact for every n.

    With c = cos²θ and v = sin²θ + σ² the derivative by a = nλ of the term (a²c + sv)/(s + a)² of that risk is
    2s(ac − v)/(s + a)³, so a = v/c is best for every s. Thus a small ridge helps at finite n, though theorem 3.8 finds
    0 to be best for n → ∞. The optimal ridge diverges towards θ = π/2, where the features are useless.
    """
    theta, sigma, n = broadcast(theta=theta, sigma=sigma, n=n)
    with np.errstate(over="ignore"):
        return ((_sine(theta) ** 2 + sigma**2) / (n * np.cos(theta) ** 2))[()]


def norm_factor(fitted: ArrayLike, outside: ArrayLike, depth: ArrayLike) -> Array:
    """φ = |β|^{(L−1)/L} by which finetuning rescales what the data do not determine; |β_s| = 1 is the unit of length.

    "Finetuning with linear teachers", equation 5: β = P∥β_t + φ P⊥β_s, so |β|² = fitted + φ² outside is the root of

        s = fitted + outside · s^{(L−1)/L}.

    The right-hand side over s falls strictly from ∞ to 0, so there is one root s > 0. (Where fitted = 0 the limit
    s = outside^L is taken; both zero give φ = 0 for L > 1.) In log s the logarithm of that quotient is convex and
    falls, so Newton's iteration from below climbs to the root without safeguards.

    Depth np.inf gives the limit: the root of s = fitted + outside · s, so φ² = fitted/(1 − outside), which is equation
    6, φ = |P∥β_t|/|P∥β_s|. It is infinite where outside ≥ 1, save at fitted = 0 and outside = 1: 1 for every depth.

    Parameters
    ----------
    fitted, outside : |P∥β_t|² (with label noise |X⁺y|²) and |P⊥β_s|², both over |β_s|²
    depth : L, 1 giving φ = 1
    """
    endless = np.asarray(depth, dtype=float) == np.inf
    fitted, outside, depth = broadcast(fitted=fitted, outside=outside, depth=np.where(endless, 1, depth))
    power = 1 - 1 / depth
    with np.errstate(divide="ignore", invalid="ignore"):
        log_fitted, log_outside = np.log(fitted), np.log(outside)
        log_s = np.maximum(log_fitted, depth * log_outside)
        for _ in range(_NEWTON_STEPS):
            along = log_outside + power * log_s
            right = np.logaddexp(log_fitted, along)
            step = (right - log_s) / (1 - power * np.exp(along - right))
            if not np.any(step > _TOLERANCE * np.maximum(1, abs(log_s))):
                break
            log_s = np.where(step > 0, log_s + step, log_s)  # only rounding makes it point downwards
        limit = np.where(outside < 1, np.sqrt(fitted / np.maximum(1 - outside, 0)), np.inf)
        limit = np.where((fitted == 0) & (outside == 1), 1.0, limit)
        return np.where(endless, limit, np.where(depth == 1, 1.0, np.exp(power / 2 * log_s)))[()]


def finetune_transferability(
    gamma: ArrayLike,
    theta: ArrayLike,
    sigma: ArrayLike = 0,
    depth: ArrayLike | None = None,
    *,
    target_norm: ArrayLike = 1,
) -> Array:
    """Risk from scratch less that of finetuning all layers: (1 − γ)(2φκ cos θ − φ²) for γ < 1, else 0.

    depth None : equation 15, φ = 1: the proof of theorem 3.9 takes the part of β_s outside the data to keep its norm.
    depth L : φ is the `norm_factor` of |X⁺y|² = κ²γ + σ²γ/(1 − γ) and |P⊥β_s|² = 1 − γ. Only L = 1 gives equation 15.

    It follows from P⊥β_s·P⊥β_t = (1 − γ)κ cos θ. It tends to 0 as γ → 1.

    Examples
    --------
    >>> finetune_transferability(0.5, [0.0, np.pi / 3, np.pi / 2]).round(3)
    array([ 0.5,  0. , -0.5])
    """
    gamma, theta, sigma, norm = broadcast(gamma=gamma, theta=theta, sigma=sigma, target_norm=target_norm)
    phi = _asymptotic_factor(gamma, sigma, depth, norm)
    return np.where(gamma < 1, (1 - gamma) * phi * (2 * norm * np.cos(theta) - phi), 0.0)[()]


def finetune_risk(
    gamma: ArrayLike, theta: ArrayLike, sigma: ArrayLike, depth: ArrayLike | None = None, *, target_norm: ArrayLike = 1
) -> Array:
    """Equation 14, the risk after all layers were finetuned: `scratch_risk` less `finetune_transferability`.

    Examples
    --------
    >>> finetune_risk(0.5, [0.0, np.pi / 2], sigma=0.0)
    array([0., 1.])
    """
    norm = np.asarray(target_norm, dtype=float)
    gain = finetune_transferability(gamma, theta, sigma, depth, target_norm=norm)
    return norm**2 * scratch_risk(gamma, sigma / norm) - gain


def finetune_boundary(gamma: ArrayLike, sigma: ArrayLike, depth: ArrayLike | None = None) -> Array:
    """Angle θ = arccos(φ/2) below which finetuning helps and above which it hurts; π/3 for depth None.

    φ as in `finetune_transferability`. NaN where finetuning hurts at every angle (φ > 2), and for γ ≥ 1, where it
    neither helps nor hurts.
    """
    gamma, sigma = broadcast(gamma=gamma, sigma=sigma)
    cosine = _asymptotic_factor(gamma, sigma, depth, 1.0) / 2
    return np.arccos(np.where((gamma < 1) & (cosine <= 1), cosine, np.nan))[()]


def _asymptotic_factor(gamma: Array, sigma: Array, depth: ArrayLike | None, norm: Array | float) -> Array:
    """φ of finetuning for γ < 1; of no meaning beyond."""
    below = np.where(gamma < 1, gamma, 0.5)
    fitted = norm**2 * below + _noise_risk(below, sigma)
    return norm_factor(fitted, 1 - below, 1 if depth is None else depth)


def _noise_risk(gamma: Array, sigma: Array) -> Array:
    """E|X⁺ε|²."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(sigma == 0, 0.0, sigma**2 * np.minimum(gamma, 1) / abs(1 - gamma))


def _sine(theta: Array) -> Array:
    return np.where(theta == np.pi, 0.0, np.sin(theta))  # the double nearest to π has a sine of 1e-16
