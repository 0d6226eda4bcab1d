"""An ensemble of diagonal linear networks on a device: data, forces and weights that drop finished runs.

The weights are kept as first (runs, 2, 1, D) and second (runs, 2, O, D), axis 1 being the paths + and −, with the sign
of the − path inside its second layer. Then β = Σ first·second, both paths obey the same equations, and gradient flow of
L = Σ_o mean loss of output o is first' = Σ_o g_o second_o, second_o' = g_o first with the force g = −∂L/∂β.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import torch

from carryover.networks.diagonal import Weights
from carryover.training.device import torch_device
from carryover.training.losses import LOSSES
from carryover.training.observables import RISKS
from carryover.training.result import Trained

LAYERS = ("first", "second")


class Ensemble:
    """The networks still in training. `runs` are their indices in the caller's arrays."""

    def __init__(
        self, X, y, weights: Weights, teacher, trainable: Iterable[str], device: str, loss: str = "squared"
    ) -> None:
        """X[o]: (runs, n_o, D), y[o]: (runs, n_o), weights of O outputs, teacher (runs, D) or None, a loss's name.

        Raises ValueError for shapes that do not fit, values that are not finite, labels of cross-entropy that are not
        ±1, and layers and losses that do not exist.
        """
        if loss not in LOSSES:
            raise ValueError(f"loss must be one of {', '.join(LOSSES)}, got {loss!r}")
        self.loss, self._risk = LOSSES[loss], RISKS[loss]
        X, y = _data(X, y)
        if loss == "cross_entropy" and any((np.abs(labels) != 1).any() for labels in y):
            raise ValueError("labels y of cross_entropy must be 1 or -1")
        runs, _, D = X[0].shape
        if weights.second_plus.shape != (runs, len(X), D):
            raise ValueError(
                f"weights must be those of {runs} runs, {len(X)} outputs and {D} inputs like X, "
                f"got second layers of shape {weights.second_plus.shape}"
            )
        named = {trainable} if isinstance(trainable, str) else set(trainable)
        if not named or not named <= set(LAYERS):
            raise ValueError(f'trainable must name "first", "second" or both, got {sorted(named)}')
        self.trainable = tuple(layer for layer in LAYERS if layer in named)
        if teacher is not None and np.shape(teacher) != (runs, D):
            raise ValueError(f"teacher must have the shape ({runs}, {D}), got {np.shape(teacher)}")
        self.device = torch_device(device)
        self.X, self.y = [self.tensor(x) for x in X], [self.tensor(t) for t in y]
        self.teacher = None if teacher is None else self.tensor(teacher)
        self.first = self.tensor(np.stack([weights.first_plus, weights.first_minus], axis=1)[:, :, None])
        self.second = self.tensor(np.stack([weights.second_plus, -weights.second_minus], axis=1))
        for name, values in (("weights", self.first), ("weights", self.second), ("teacher", self.teacher)):
            if values is not None and not torch.isfinite(values).all():
                raise ValueError(f"{name} must be finite")
        self.runs = torch.arange(runs, device=self.device)

    def tensor(self, values) -> torch.Tensor:
        return torch.as_tensor(np.ascontiguousarray(values, dtype=np.float64), device=self.device)

    def __len__(self) -> int:
        return len(self.runs)

    def force(self, beta: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Loss (runs,) and force g = −∂L/∂β (runs, O, D) at β (runs, O, D): two matrix–vector products per output."""
        loss, forces = 0.0, []
        for o, (X, y) in enumerate(zip(self.X, self.y, strict=True)):
            f = self.predict(o, beta[:, o])
            loss = loss + self.loss.value(f, y).mean(1)
            forces.append(self.pull(o, self.loss.pull(f, y)) * (1 / X.shape[1]))
        return loss, torch.stack(forces, 1)

    def predict(self, output: int, beta: torch.Tensor) -> torch.Tensor:
        """X β of one output, (runs, n). Row vector times transpose: the order for which batched products are fast."""
        return torch.bmm(beta[:, None], self.X[output].transpose(1, 2))[:, 0]

    def pull(self, output: int, samples: torch.Tensor) -> torch.Tensor:
        """Xᵀ r of one output, (runs, D), for values r of its samples, (runs, n)."""
        return torch.bmm(samples[:, None], self.X[output])[:, 0]

    def risk(self, beta: torch.Tensor) -> torch.Tensor:
        """Test error of output 0 under the loss at hand, (runs,); NaN without a teacher."""
        if self.teacher is None:
            return torch.full((len(self),), torch.nan, dtype=torch.float64, device=self.device)
        return self._risk(beta[:, 0], self.teacher)

    def keep(self, which: torch.Tensor) -> None:
        """Drop the runs that are not in the boolean mask `which`."""
        self.X, self.y = [x[which] for x in self.X], [t[which] for t in self.y]
        self.first, self.second, self.runs = self.first[which], self.second[which], self.runs[which]
        if self.teacher is not None:
            self.teacher = self.teacher[which]


def coefficients(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """β (runs, O, D)."""
    return (first * second).sum(1)


class Ledger:
    """Final weights, losses and risks of all runs in the caller's order, filled in as the runs end."""

    def __init__(self, ensemble: Ensemble, tolerance: float) -> None:
        self.ensemble, self.tolerance = ensemble, tolerance
        self.first, self.second = ensemble.first.cpu().numpy().copy(), ensemble.second.cpu().numpy().copy()
        self.loss, self.risk = np.full((2, len(ensemble)), np.nan)

    def close(self, ended: torch.Tensor, loss: torch.Tensor) -> None:
        """Write down the runs of the mask `ended` and drop them from the ensemble."""
        ensemble = self.ensemble
        rows = ensemble.runs[ended].cpu().numpy()
        self.first[rows], self.second[rows] = ensemble.first[ended].cpu().numpy(), ensemble.second[ended].cpu().numpy()
        self.loss[rows] = loss[ended].cpu().numpy()
        self.risk[rows] = ensemble.risk(coefficients(ensemble.first, ensemble.second))[ended].cpu().numpy()
        ensemble.keep(~ended)

    def trained(self, evaluations, risk_best, time, curves) -> Trained:
        first, second = self.first, self.second
        return Trained(
            weights=Weights(first[:, 0, 0], first[:, 1, 0], second[:, 0], -second[:, 1]),
            loss=self.loss,
            evaluations=evaluations,
            converged=self.loss <= self.tolerance,
            risk_final=self.risk,
            risk_best=np.where(np.isfinite(risk_best), risk_best, np.nan),
            time=time,
            curves=curves,
        )


def _data(X: Sequence, y: Sequence) -> tuple[list[np.ndarray], list[np.ndarray]]:
    X = [np.asarray(x, dtype=np.float64) for x in X]
    y = [np.asarray(t, dtype=np.float64) for t in y]
    if not X or len(X) != len(y):
        raise ValueError(f"X and y must be lists with one array per output, got {len(X)} and {len(y)}")
    for o, (inputs, targets) in enumerate(zip(X, y, strict=True)):
        if inputs.ndim != 3 or min(inputs.shape) == 0 or targets.shape != inputs.shape[:2]:
            raise ValueError(
                f"X[{o}] and y[{o}] must have the shapes (runs, n, D) and (runs, n), none of them 0, "
                f"got {inputs.shape} and {targets.shape}"
            )
        if (inputs.shape[0], inputs.shape[2]) != (X[0].shape[0], X[0].shape[2]):
            raise ValueError(f"X[{o}] must have as many runs and inputs as X[0]: {inputs.shape} beside {X[0].shape}")
        if not (np.isfinite(inputs).all() and np.isfinite(targets).all()):
            raise ValueError(f"X[{o}] and y[{o}] must be finite")
    return X, y
