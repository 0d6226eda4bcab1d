"""Exact averages over inputs of products of ReLU units, and with them exact population risks of shallow ReLU networks.

Inputs are x ~ N(0, I_D) or, equally, uniform on the sphere of radius √D. Every function averaged here is a product of
two functions of degree 1 in |x|, so that its Gaussian mean is E[r²] times its mean over directions, r = |x|, and
E[r²] = D is the squared radius of that sphere.

NumPy arrays give NumPy arrays. PyTorch tensors give tensors on their own device, by the same code: a trainer can follow
the risk of a whole batch where it is trained. The result carries no gradient. Everything is computed in float64.
Leading axes broadcast, and every function raises ValueError where shapes do not fit.

`infinite_width_gram` and `ntk_bound` are of "A theoretical analysis of fine-tuning with linear teachers", section 6,
after Arora et al. (2019): the tangent kernel's bound on the risk of a finetuned wide network with a fixed readout.
Their inputs have norm 1 to 1e-6.
"""

import math
import sys
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

_PAIRS = 1 << 20  # pairs of units worked on at once (8 MB each array), so that batches do not fill the memory
_PARALLEL = 8 * np.finfo(float).eps  # 1 − |cosine| that rounding alone can make of two parallel units
_QUIET = np.errstate(invalid="ignore", over="ignore")  # what is not finite shows in the result


@_QUIET
def relu_kernel(W, V):
    """The arc-cosine kernel of degree 1, K[i, j] = E[relu(w_i·x) relu(v_j·x)].

    K = |w||v|/(2π) (sin θ + (π − θ) cos θ), θ the angle between w and v (Cho & Saul 2009).

    Equation 150 of "Features are fate" prints it without |w||v|: for unit vectors, so only for networks whose first
    layer is on the sphere. With W of the network's m units and W* of the target's m_*, its matrices are
    K = relu_kernel(W, W)/m (equation 151), K* = relu_kernel(W*, W*)/m_* (152), K̃ = relu_kernel(W, W*)/√(m m_*) (153).

    Accuracy: the error is a few times 1e-16 |w||v|, also where w and v are parallel. Hence a squared distance
    K(w, w) − 2K(w, v) + K(v, v) ≈ |w − v|²/2 of unit vectors 1e-4 apart is good to 1e-7 of itself. Towards opposite
    vectors the error falls like 1e-16 (π − θ), to 1e-24, but K like (π − θ)³.

    Parameters
    ----------
    W, V : (..., m, D) and (..., k, D) weights

    Returns
    -------
    (..., m, k), nonnegative; 0 where a vector is zero.

    Examples
    --------
    >>> relu_kernel(np.eye(2), np.eye(2)).round(3)
    array([[0.5  , 0.159],
           [0.159, 0.5  ]])
    """
    xp, W, V = _arrays((W, 2), (V, 2))
    (w_norm, W), (v_norm, V) = _polar(xp, W), _polar(xp, V)
    u = xp.clip(W @ V.mT, -1, 1)  # cosines, never beyond ±1
    kernel = xp.sqrt((1 - u) * (1 + u)) + u * xp.arccos(-u)
    return xp.clip(kernel, 0, None) * (w_norm[..., :, None] * (v_norm[..., None, :] / (2 * math.pi)))


@_QUIET
def relu_power(first, readout):
    """E f(x)² of a network f(x) = Σ_h readout_h relu(first_h·x).

    It is the quadratic form of `relu_kernel` over the units. As relu(z) = (z + |z|)/2, f is an odd part, linear in x,
    plus an even part. Their product has the mean 0, so that the mean squares of both parts are added.

    Accuracy: rounding leaves about 1e-16 (Σ|readout||first|)². Work: one arcsine per pair of units.

    first, readout : (..., H, D) and (..., H); units with readout 0 are padding: left out, whatever their direction.
        Returns (...), nonnegative; NaN for weights that are not finite.
    """
    xp, first, readout = _arrays((first, 2), (readout, 1))
    norms, units = _polar(xp, xp.where((readout == 0)[..., None], 0.0, first))
    *lead, H = readout.shape
    networks, squares = math.prod(lead), []
    units, coefficients = units.reshape(networks, H, first.shape[-1]), (readout * norms).reshape(networks, 1, H)
    step = max(1, _PAIRS // max(1, H**2))
    for start in range(0, max(1, networks), step):  # a block of networks at a time, to bound the memory
        W, c = units[start : start + step], coefficients[start : start + step]
        u = xp.clip(W @ W.mT, -1, 1)
        # E|ŵ·x||v̂·x| = 2/π (√(1 − u²) + u arcsin u)
        even = xp.sqrt((1 - u) * (1 + u)) + u * xp.arcsin(u)
        odd = ((c @ W) ** 2).sum(-1)
        squares.append(odd / 4 + (c @ even * c).sum(-1) / (2 * math.pi))
    return xp.clip(xp.concat(squares), 0, None).reshape(lead)


@_QUIET
def relu_risk(first, readout, directions, teacher_readout):
    """Population risk E[(Σ_h readout_h relu(first_h·x) − Σ_k teacher_readout_k relu(directions_k·x))²].

    It is the `relu_power` of the difference, with its accuracy.

    first, readout : (..., H, D) and (..., H), the student; directions, teacher_readout : (..., K, D) and (..., K), the
        teacher. Returns (...), nonnegative; NaN for weights that are not finite.
    """
    xp, first, readout, directions, teacher_readout = _arrays(
        (first, 2), (readout, 1), (directions, 2), (teacher_readout, 1)
    )
    return relu_power(xp.concat([first, directions], -2), xp.concat([readout, -teacher_readout], -1))


@_QUIET
def tangent_risk(first, readout, first_change, readout_change, directions, teacher_readout):
    """Population risk of a network linearised in its weights, against a ReLU teacher.

    The student is Σ_h [(a_h + p_h) relu(w_h·x) + a_h 1[w_h·x > 0] q_h·x]: weights w = `first` and a = `readout`, where
    it was linearised, and displacements q = `first_change` and p = `readout_change`. Since relu(w·x) = 1[w·x > 0] w·x,
    student and teacher are sums of 1[w·x > 0] s·x, with s = (a + p) w + a q, and the risk sums over pairs

        E[1[w·x > 0] 1[v·x > 0] (s·x)(t·x)] = ((π − θ) s·t + sin θ (s·ŵ t·v̂ + s·n t·m)) / (2π),

    n and m the unit vectors of v̂ − (ŵ·v̂) ŵ and ŵ − (ŵ·v̂) v̂. (The inputs that open both units fill a wedge of angle
    π − θ; along its bisector the second moment is (π − θ + sin θ)/(2π), across it (π − θ − sin θ)/(2π), and outside the
    plane of w and v (π − θ)/(2π).)

    Accuracy: that of an angle found from its cosine. Parallel units are exact; a pair at an angle θ adds an error of
    about 1e-16 |s||t|/θ, at most 2e-8 |s||t|.

    first, readout, first_change, readout_change : (..., H, D) and (..., H), both twice; directions, teacher_readout :
        (..., K, D) and (..., K), with padding as in `relu_power`. Returns (...), nonnegative; NaN for weights that are
        not finite.
    """
    xp, first, readout, first_change, readout_change, directions, teacher_readout = _arrays(
        (first, 2), (readout, 1), (first_change, 2), (readout_change, 1), (directions, 2), (teacher_readout, 1)
    )
    directions = xp.where((teacher_readout == 0)[..., None], 0.0, directions)
    norms, units = _polar(xp, xp.concat([first, directions], -2))
    slopes = (readout + readout_change)[..., None] * first + readout[..., None] * first_change
    slopes = xp.concat([slopes, -teacher_readout[..., None] * directions], -2)
    slopes = xp.where((norms == 0)[..., None], 0.0, slopes)  # a unit without weights never opens
    u = xp.clip(units @ units.mT, -1, 1)
    u = xp.where(1 - abs(u) <= _PARALLEL, xp.sign(u), u)
    sine = xp.sqrt((1 - u) * (1 + u))
    own = (slopes * units).sum(-1)
    across = (slopes @ units.mT - u * own[..., None]) / xp.where(sine == 0, 1.0, sine)  # s_i·n_ij
    plane = own[..., :, None] * own[..., None, :] + across * across.mT
    # 1[z > 0] = (1 + sign z)/2, whose halves are summed apart as in `relu_power`
    even = (xp.arcsin(u) * (slopes @ slopes.mT) + sine * plane).sum((-2, -1))
    odd = (slopes.sum(-2) ** 2).sum(-1)
    return xp.clip(odd / 4 + even / (2 * math.pi), 0, None)


@_QUIET
def function_moments(c_star, W_star):
    """E f_*² and the variance over x ~ N(0, I) of f_*(x) = 1/m_* Σ_k c*_k relu(w*_k·x).

    E f_*² is 1/m_* c*ᵀK*c* in "Features are fate" (equations 143, 152), and E relu(w·x) = |w|/√(2π).

    c_star : (..., m_*), W_star : (..., m_*, D); the leading axes broadcast. Returns two arrays (...), nonnegative.
    Accuracy as `relu_power`.
    """
    xp, c_star, W_star = _arrays((c_star, 1), (W_star, 2))
    m = max(1, c_star.shape[-1])
    power = relu_power(W_star, c_star) / m**2
    mean = (c_star * _polar(xp, W_star)[0]).sum(-1) / (m * math.sqrt(2 * math.pi))
    return power, xp.clip(power - mean**2, 0, None)


def rkhs_residual(c_star, W_star, W, *, cutoff=1e-10):
    """E |P⊥f_*(x)|² of the part of f_* (see `function_moments`) outside the span of the features relu(w_i·x).

    "Features are fate", equations 151–156: what is left of the risk when the readout of a network is fitted to many
    samples. The span knows only the directions of W, so unit vectors are used: long and short units count alike.

    Eigenvectors of K with eigenvalues up to `cutoff` times the largest are left out, as if they were not in the span.
    Rounding leaves an error of about 1e-16 of the largest in each eigenvalue, so at 1e-10 every direction kept is known
    to about 1e-6 of itself; those left out take readouts above 1e5 times the function that they make. A pair of units
    closer than about 2e-5 therefore counts as one. Of a function Σ_i a_i relu(ŵ_i·x) in the span, what is left out is
    at most cutoff · m/2 · Σ a_i², and rounding adds about 1e-15 (Σ|c*||w*|/m_*)².

    Parameters
    ----------
    c_star, W_star : (..., m_*) and (..., m_*, D), the target function
    W : (..., m, D), input weights of the network

    Returns
    -------
    (...), between 0 and E f_*². Raises ValueError too for values not finite.

    Examples
    --------
    >>> bool(rkhs_residual(np.ones(1), np.array([[1.0, 0.0]]), np.array([[2.0, 0.0]])) < 1e-9)
    True
    """
    xp, c_star, W_star, W = _arrays((c_star, 1), (W_star, 2), (W, 2))
    if not all(bool(xp.isfinite(array).all()) for array in (c_star, W_star, W)):
        raise ValueError("c_star, W_star and W must be finite")
    units = _polar(xp, W)[1]
    overlaps = (relu_kernel(units, W_star) @ (c_star / max(1, c_star.shape[-1]))[..., None])[..., 0]
    inside, _ = _inverse_form(xp, relu_kernel(units, units), overlaps, cutoff)
    power, _ = function_moments(c_star, W_star)
    return xp.minimum(xp.clip(power - inside, 0, None), power)


def infinite_width_gram(X: ArrayLike, V: ArrayLike | None = None) -> NDArray:
    """H^∞, the Gram matrix of the tangent features of a two-layer ReLU network whose first layer alone is trained.

    H_ij = E[x_i·x_j 1[w·x_i > 0] 1[w·x_j > 0]] = x_i·x_j (π − θ_ij)/(2π), w ~ N(0, I), θ_ij the angle of x_i and x_j.

    The angle is found from |x_i − x_j| and |x_i + x_j|, accurate also for nearly parallel and nearly opposite inputs.
    Equal inputs give 1/2, opposite ones 0.

    X : (n, d); V : (k, d), X itself if left out. Returns (n, n) or (n, k).
    """
    from scipy.spatial.distance import cdist  # here, since all trainings of ReLU networks import this module

    X, V = (np.asarray(inputs, dtype=float) for inputs in (X, X if V is None else V))
    if not all(A.ndim == 2 and (abs(np.linalg.norm(A, axis=1) - 1) <= 1e-6).all() for A in (X, V)):
        raise ValueError("inputs must be (n, d), and their rows must have norm 1, as the theorem assumes")
    # (π − θ)/2 = arctan(|x + x'|/|x − x'|)
    return X @ V.T * np.arctan2(cdist(X, -V), cdist(X, V)) / np.pi


def ntk_bound(X: ArrayLike, residual: ArrayLike) -> NDArray:
    """√(ỹᵀ(H^∞)⁻¹ỹ) of theorem 6.1, with the residual ỹ = y − f(X; Θ(0)) of the labels y after pretraining.

    For linear teachers, ỹ = XΔ with Δ = θ_T − θ_S, corollary 6.2 bounds it by 3|Δ|. In fact it is at most 2|Δ|: with
    κ(u) = u/4 + u arcsin(u)/(2π) the entry of H^∞ at cosine u, u arcsin(u) has a power series of nonnegative
    coefficients, so H^∞ ⪰ XXᵀ/4 and ỹᵀ(H^∞)⁻¹ỹ ≤ 4|P∥Δ|². That series is even, Δ·x is odd, so 2 is approached as the
    inputs fill the sphere and cannot be improved.

    The theorem takes H^∞ to be regular, which it is where no two inputs are parallel. Eigenvalues within rounding of 0
    (n times 2.2e-16 of the largest) count as 0: where more than 1e-6 of |ỹ| lies along them, as of equal inputs with
    different labels, the result is infinite, else they are left out.

    The first term of equation 11's bound on the risk is 2 √(ỹᵀ(H^∞)⁻¹ỹ/n). It says nothing from 1 on.

    X : (n, d), rows of norm 1, of which H^∞ is the `infinite_width_gram`; residual : ỹ (..., n). Returns (...).

    Examples
    --------
    >>> float(ntk_bound(np.eye(2), [1.0, 0.0]).round(3))
    1.414
    """
    gram, residual = infinite_width_gram(X), np.asarray(residual, dtype=float)
    square, outside = _inverse_form(np, gram, residual, len(gram) * np.finfo(float).eps)
    return np.where(outside > 1e-6**2 * (residual**2).sum(-1), np.inf, np.sqrt(square))[()]


def _inverse_form(xp, gram, values, cutoff):
    """(vᵀK⁺v, |v⊥|²) of vectors v (..., n) and a Gram matrix K (..., n, n), v⊥ being the part of v outside K's range:
    along eigenvectors with eigenvalues up to `cutoff` times the largest."""
    eigenvalues, vectors = xp.linalg.eigh(gram)
    kept = eigenvalues > cutoff * eigenvalues[..., -1:]
    parts = (vectors.mT @ values[..., None])[..., 0] ** 2
    return xp.where(kept, parts / xp.where(kept, eigenvalues, 1.0), 0.0).sum(-1), xp.where(kept, 0.0, parts).sum(-1)


def _polar(xp, W):
    """Norms (..., m) and unit vectors (..., m, D) of weights; a zero vector stays zero."""
    norm = xp.sqrt((W * W).sum(-1))
    return norm, W / xp.where(norm == 0, 1.0, norm)[..., None]


def _arrays(*arguments):
    """The namespace xp and, for each (values, number of its last axes to leave as they are), its float64 array, with
    leading axes broadcast. If any is a tensor, xp is PyTorch, on the first tensor's device; otherwise it is NumPy."""
    xp: Any = sys.modules.get("torch")  # if PyTorch was never imported, no argument is a tensor
    tensors = [values for values, _ in arguments if xp is not None and isinstance(values, xp.Tensor)]
    if tensors:
        device = tensors[0].device
        arrays = [xp.as_tensor(values, dtype=xp.float64, device=device).detach() for values, _ in arguments]
    else:
        xp, arrays = np, [np.asarray(values, dtype=np.float64) for values, _ in arguments]
    pairs = [(array, array.ndim - last) for array, (_, last) in zip(arrays, arguments, strict=True)]
    leading = np.broadcast_shapes(*(tuple(array.shape[:split]) for array, split in pairs))
    return xp, *(xp.broadcast_to(array, (*leading, *array.shape[split:])) for array, split in pairs)
