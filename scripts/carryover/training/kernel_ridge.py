"""Ridge regression on the features that a shallow ReLU network has, which it does not move.

The network f(x) = Σ_h a_h relu(w_h·x), linearised in all its weights (Jacot, Gabriel & Hongler 2018), is fitted to what
it leaves unexplained, y − f(x), with the inner product of the gradients of f as the kernel,

    K(x, x') = Σ_h relu(w_h·x) relu(w_h·x') + x·x' Σ_h a_h² 1[w_h·x > 0] 1[w_h·x' > 0].

From a readout of zeros this is a linear probe: the readout alone is fitted, and the input weights do not move.

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
    """The function Σ_h [readout_h relu(first_h·x) + start_readout_h 1[first_h·x > 0] first_change_h·x], in float64."""

    strength: float  # in units of trace K/n
    loss: float  # mean squared error on the training samples
    first: np.ndarray  # (H, D)
    start_readout: np.ndarray  # (H,)
    readout: np.ndarray  # (H,), fitted; of a probe, together with `first`, the whole fitted network
    first_change: np.ndarray  # (H, D), displacement of the first layer, 0 for a probe

    def risk(self, directions: np.ndarray, teacher_readout: np.ndarray) -> float:
        """Exact mean squared error against the teacher Σ_k teacher_readout_k relu(directions_k·x), a float.

        directions (K, D), teacher_readout (K,); inputs uniform on the sphere of radius √D, or N(0, I).
        """
        if not self.start_readout.any():
            return float(relu_risk(self.first, self.readout, directions, teacher_readout))
        changes = self.first_change, self.readout - self.start_readout
        return float(tangent_risk(self.first, self.start_readout, *changes, directions, teacher_readout))


def fit(first: np.ndarray, readout: np.ndarray, X: np.ndarray, y: np.ndarray) -> Fitted:
    """Fit one network's tangent features to samples, with the ridge strength of the smallest leave-one-out error.

    For one or two samples this error says nothing. They get the smallest of `STRENGTHS`, which nearly interpolates, as
    training would.

    Parameters
    ----------
    first, readout : (H, D), (H,)
        The network's weights. With a readout of zeros only the readout is fitted (a linear probe).
    X, y : (n, D), (n,)

    Raises
    ------
    ValueError
        None of the network's units is active on any sample.
    """
    first, readout, X, y = (np.asarray(values, dtype=np.float64) for values in (first, readout, X, y))
    gram = kernel(first, readout, X, X)
    scale = np.trace(gram) / len(X)
    if not scale > 0:
        raise ValueError("no unit of the network is active on any sample, so there is no feature to fit")
    # (n, H): hidden responses, and which units are active
    responses, gates = np.maximum(X @ first.T, 0), (X @ first.T > 0).astype(float)
    target = y - responses @ readout  # what the network does not explain yet
    values, vectors = np.linalg.eigh(gram / scale)
    values = values.clip(min=0)
    strength = STRENGTHS[0]
    if len(X) >= _FEWEST:
        errors = leave_one_out(values, vectors, target, STRENGTHS)
        strength = STRENGTHS[(errors**2).mean(1).argmin()]
    # The weights move by Σ_i dual_i ∂f(x_i)/∂weights, where dual = (K + strength · scale · I)⁻¹ target.
    dual = vectors @ ((vectors.T @ target) / (values + strength)) / scale
    # Predictions are those of the network linearised in its weights, f + Σ ∂f/∂weights · change.
    fitted, first_change = readout + dual @ responses, readout[:, None] * ((gates * dual[:, None]).T @ X)
    predictions = responses @ fitted + np.sum(gates * (X @ (readout[:, None] * first_change).T), axis=1)
    return Fitted(float(strength), float(np.mean((predictions - y) ** 2)), first, readout, fitted, first_change)


def kernel(first: np.ndarray, readout: np.ndarray, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """K between inputs X (n, D) and Z (k, D), of the network first (H, D), readout (H,): (n, k)."""
    responses = np.maximum(X @ first.T, 0) @ np.maximum(Z @ first.T, 0).T
    gates = [(inputs @ first.T > 0).astype(float) for inputs in (X, Z)]
    return responses + (X @ Z.T) * ((gates[0] * readout**2) @ gates[1].T)


def leave_one_out(values: np.ndarray, vectors: np.ndarray, target: np.ndarray, strengths: np.ndarray) -> np.ndarray:
    """Errors (strengths, n) of predictions of each target from all others, for eigenvalues (n,), not negative, and
    eigenvectors (n, n) of the kernel K.

    With G = (K + strength)⁻¹ the error at sample i is (G y)_i / G_ii: one eigendecomposition serves all strengths.
    """
    inverses = 1 / (values + strengths[:, None])
    return (inverses * (vectors.T @ target)) @ vectors.T / (inverses @ (vectors**2).T)
