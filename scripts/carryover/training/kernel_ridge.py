"""Ridge regression on the features that a shallow ReLU network has, which it does not move.

The network is f(x) = Σ_h a_h relu(w_h·x). There are two kinds of features:

- "probe", a linear probe: the readout alone is fitted, from nothing. K(x, x') = Σ_h relu(w_h·x) relu(w_h·x').
- "tangent": the network linearised in all its weights (Jacot, Gabriel & Hongler 2018) is fitted to what it leaves
  unexplained, y − f(x). K(x, x') = Σ_h relu(w_h·x) relu(w_h·x') + x·x' Σ_h a_h² 1[w_h·x > 0] 1[w_h·x' > 0], the inner
  product of the gradients of f.

Ridge strengths are in units of the mean eigenvalue of the kernel on the training samples, trace K/n, so that they do
not depend on the scale of the network.
"""

from dataclasses import dataclass

import numpy as np

from carryover.theory.kernels import relu_risk, tangent_risk

STRENGTHS = np.logspace(-8, 2, 21)
"""What cross-validation chooses from: from nearly interpolating to nearly constant."""
_FEWEST = 3  # samples with which cross-validation says anything


@dataclass(frozen=True)
class Fitted:
    """The function Σ_h [readout_h relu(first_h·x) + start_readout_h 1[first_h·x > 0] first_change_h·x], in float64.

    The network whose features these are has the weights `first` and `start_readout`.
    """

    kind: str
    strength: float  # in units of trace K/n
    loss: float  # mean squared error on the training samples
    first: np.ndarray  # (H, D)
    start_readout: np.ndarray  # (H,)
    readout: np.ndarray  # (H,), fitted; of a probe, together with `first`, the whole fitted network
    first_change: np.ndarray  # (H, D), displacement of the first layer, 0 for a probe

    def risk(self, directions: np.ndarray, teacher_readout: np.ndarray) -> float:
        """Exact mean squared error against the teacher Σ_k teacher_readout_k relu(directions_k·x), a float.

        directions (K, D), teacher_readout (K,); inputs uniform on the sphere of radius √D, or N(0, I). Raises
        ValueError for shapes that do not fit.
        """
        if self.kind == "probe":
            return float(relu_risk(self.first, self.readout, directions, teacher_readout))
        changes = self.first_change, self.readout - self.start_readout
        return float(tangent_risk(self.first, self.start_readout, *changes, directions, teacher_readout))


def fit(kind: str, first: np.ndarray, readout: np.ndarray, X: np.ndarray, y: np.ndarray) -> Fitted:
    """Fit one network's features to samples, with the ridge strength of the smallest leave-one-out error.

    One or two samples leave nothing to choose by: they get the smallest of `STRENGTHS`, nearly the interpolation that
    training would end at.

    Parameters
    ----------
    kind : str
        "probe" or "tangent".
    first, readout : (H, D), (H,)
        The weights; a probe uses the first layer only.
    X, y : (n, D), (n,)

    Raises
    ------
    ValueError
        None of the network's units is active on any sample.
    """
    first, readout, X, y = (np.asarray(values, dtype=np.float64) for values in (first, readout, X, y))
    gram = kernel(kind, first, readout, X, X)
    scale = np.trace(gram) / len(X)
    if not scale > 0:
        raise ValueError("no unit of the network is active on any sample, so there is no feature to fit")
    target = y if kind == "probe" else y - _function(X, first, readout)
    values, vectors = np.linalg.eigh(gram / scale)
    values = values.clip(min=0)
    strength = STRENGTHS[0]
    if len(X) >= _FEWEST:
        errors = leave_one_out(values, vectors, target, STRENGTHS)
        strength = STRENGTHS[(errors**2).mean(1).argmin()]
    dual = vectors @ ((vectors.T @ target) / (values + strength)) / scale
    fitted, first_change = dual @ np.maximum(X @ first.T, 0), np.zeros_like(first)
    if kind == "tangent":
        fitted, first_change = readout + fitted, readout[:, None] * ((_gates(first, X) * dual[:, None]).T @ X)
    loss = np.mean((_function(X, first, fitted, readout[:, None] * first_change) - y) ** 2)
    return Fitted(kind, float(strength), float(loss), first, readout, fitted, first_change)


def kernel(kind: str, first: np.ndarray, readout: np.ndarray, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """The kernel of `kind` between inputs X (n, D) and Z (k, D), of the network first (H, D), readout (H,): (n, k)."""
    responses = np.maximum(X @ first.T, 0) @ np.maximum(Z @ first.T, 0).T
    if kind == "probe":
        return responses
    return responses + (X @ Z.T) * ((_gates(first, X) * readout**2) @ _gates(first, Z).T)


def leave_one_out(values: np.ndarray, vectors: np.ndarray, target: np.ndarray, strengths: np.ndarray) -> np.ndarray:
    """Errors (strengths, n) of predictions of each target from all others, for eigenvalues (n,), not negative, and
    eigenvectors (n, n) of the kernel K.

    With G = (K + strength)⁻¹ the error at sample i is (G y)_i / G_ii: one eigendecomposition serves all strengths.
    """
    inverses = 1 / (values + strengths[:, None])
    return (inverses * (vectors.T @ target)) @ vectors.T / (inverses @ (vectors**2).T)


def _function(X: np.ndarray, first: np.ndarray, readout: np.ndarray, slopes: np.ndarray | None = None) -> np.ndarray:
    """Σ_h readout_h relu(first_h·x) + 1[first_h·x > 0] slopes_h·x, (n,)."""
    values = np.maximum(X @ first.T, 0) @ readout
    return values if slopes is None else values + np.sum(_gates(first, X) * (X @ slopes.T), axis=1)


def _gates(first: np.ndarray, X: np.ndarray) -> np.ndarray:
    """1[first_h·x > 0] as numbers, (n, H)."""
    return (X @ first.T > 0).astype(float)
