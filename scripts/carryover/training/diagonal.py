"""Ensembles of diagonal linear networks: data, weights and gradients.

The weights are first (runs, 2, 1, D) and second (runs, 2, O, D), axis 1 being the paths + and −, with the sign
of the − path inside its second layer. Then β = Σ first·second, both paths obey the same equations, and gradient flow of
L = Σ_o weight_o · mean loss of output o is first' = Σ_o g_o second_o, second_o' = g_o first with the negative gradient
g = −∂L/∂β.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import ClassVar

import numpy as np
import torch

from carryover.networks.diagonal import Weights
from carryover.training.devices import torch_device
from carryover.training.integrate import Ensemble, Values
from carryover.training.losses import LOSSES, RISKS


class DiagonalEnsemble(Ensemble):
    """Diagonal linear networks in training."""

    PER_RUN: ClassVar[tuple[str, ...]] = (
        "X", "y", "teacher", "first", "second", "time", "loss", "risk", "risk_best",
    )  # fmt: skip

    time: torch.Tensor  # (R,), like the risk of output 0 and the smallest one so far
    risk: torch.Tensor
    risk_best: torch.Tensor

    def __init__(
        self,
        X: Sequence[np.ndarray],
        y: Sequence[np.ndarray],
        start: Weights,
        teacher: np.ndarray | None,
        trainable: Container[str],
        device: str,
        loss: str = "squared",
        weights: Sequence[float] | None = None,
    ) -> None:
        """Lists with an array per output, X[o] (runs, n_o, D) and y[o] (runs, n_o); the start, first (runs, D), second
        (runs, O, D); coefficients (runs, D) of output 0's teacher, or None; names of layers that move, and of a loss;
        weights of the outputs' mean losses, None for 1 each.
        """
        self.trainable, self.loss_function, self._test_error = trainable, LOSSES[loss], RISKS[loss]
        self.device = torch_device(device)
        self.X, self.y = [self.tensor(x) for x in X], [self.tensor(t) for t in y]
        self.teacher = None if teacher is None else self.tensor(teacher)
        self.first = self.tensor(np.stack([start.first_plus, start.first_minus], axis=1)[:, :, None])
        self.second = self.tensor(np.stack([start.second_plus, -start.second_minus], axis=1))
        self.output_weights = [1.0] * len(X) if weights is None else list(weights)
        self.runs = np.arange(len(X[0]))

    def tensor(self, values: np.ndarray) -> torch.Tensor:
        return torch.as_tensor(np.ascontiguousarray(values, dtype=np.float64), device=self.device)

    def negative_gradient(self, beta: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Loss (runs,) and −∂L/∂β (runs, O, D) at β (runs, O, D): two matrix–vector products per output."""
        loss, gradients = torch.zeros((), dtype=beta.dtype, device=beta.device), []
        for o, (X, y, weight) in enumerate(zip(self.X, self.y, self.output_weights, strict=True)):
            f = self.predict(o, beta[:, o])
            loss = loss + weight * self.loss_function.value(f, y).mean(1)
            gradients.append(self.correlations(o, self.loss_function.negative_gradient(f, y)) * (weight / X.shape[1]))
        return loss, torch.stack(gradients, 1)

    def predict(self, output: int, beta: torch.Tensor) -> torch.Tensor:
        """X β of one output, (runs, n). Row vector times transpose: the order for which batched products are fast."""
        return torch.bmm(beta[:, None], self.X[output].transpose(1, 2))[:, 0]

    def correlations(self, output: int, samples: torch.Tensor) -> torch.Tensor:
        """Xᵀ r of one output, (runs, D), for values r of its samples, (runs, n)."""
        return torch.bmm(samples[:, None], self.X[output])[:, 0]

    def test_error(self, beta: torch.Tensor) -> torch.Tensor:
        """Test error of output 0 under the loss at hand, (runs,); NaN without a teacher."""
        if self.teacher is None:
            return torch.full((len(self),), torch.nan, dtype=torch.float64, device=self.device)
        return self._test_error(beta[:, 0], self.teacher)

    def beta(self) -> torch.Tensor:
        """β (runs, O, D)."""
        return coefficients(self.first, self.second)

    def observed(self, which: torch.Tensor) -> dict[str, Values]:
        return {"time": self.time[which], "loss": self.loss[which], "risk": self.risk[which]}

    def weights(self) -> list[Values]:
        return [self.first, self.second]


def coefficients(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """β (runs, O, D)."""
    return (first * second).sum(1)


def as_weights(first: np.ndarray, second: np.ndarray) -> Weights:
    """The networks of these layers, (runs, 2, 1, D) and (runs, 2, O, D)."""
    return Weights(first[:, 0, 0], first[:, 1, 0], second[:, 0], -second[:, 1])
