"""Gradient flow of diagonal linear networks, for any number of outputs, in tens of steps.

The negative gradient in β is g_o = X_oᵀ r_o (inputs and residuals scaled by √(2 weight_o/n_o)), so all that a network
can do follows from the integrals ν_o of its residuals, one variable per sample. Within a step both layers move by the
boost that a = X_oᵀ ν_o generates, which conserves w1² − Σ_o w2² of every path to rounding; with one output boosts
commute, so any path of ν ends in the exact limit. ν obeys ν' = r(ν) with the symmetric Jacobian −X K Xᵀ, K = ∂β/∂a, and
is integrated by the two-stage, second-order, L-stable Rosenbrock method ROS2, whose first stage gives the error. Every
run has its own step.

A stabilised Runge–Kutta–Chebyshev scheme in the same coordinates needed 5–6 times as many gradient evaluations with one
output and 31–53 times as many with two, in about the time of these steps, which also factorise a matrix (D = 1000).
Errors measured in β instead of a let steps be rejected without end near the limit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from scipy.linalg.blas import dsyrk

from carryover.training.diagonal import DiagonalEnsemble, Problem
from carryover.training.integrate import slices
from carryover.training.result import Trained
from carryover.training.steppers import ROS2, SHRINK, Cholesky, Flow

_LONGEST = 20.0  # largest |a| of one step: a weight may change by e^20


def gradient_flow(problem: Problem, **settings: Any) -> Trained:
    """Train every run by gradient flow on L = Σ_o weight · mean squared error of output o, until L ≤ `tolerance`.

    The flow of "feature reuse in multi-task learning and finetuning (appendix)", eqs 8–9, with the outputs of eqs
    24–25. Both layers move, whatever the problem says. A step takes two gradient evaluations.

    Parameters
    ----------
    tolerance, max_steps, device
        A run ends where its loss is at most the tolerance, or where the budget of `max_steps` gradient evaluations is
        spent; the device is "auto", "cpu" or "cuda".
    accuracy : float
        Bound of the error that one step makes in the logarithm of any weight; with one output it concerns only the
        path, not the limit.
    max_time : float
        Flow time at which a run ends at the latest.

    Raises
    ------
    Divergence
        The loss of some runs is not finite.
    """
    return _Flow.train(problem, **settings)


class _Flow(Flow, DiagonalEnsemble):
    """Networks with the scaled residuals (R, N) of the samples of all outputs."""

    PER_RUN = (*DiagonalEnsemble.PER_RUN, "floor", "residual", "step")
    EVALUATIONS = ROS2.EVALUATIONS
    UNSOUND = SHRINK

    def __init__(self, *arguments: Any, accuracy: float = 0.02, max_time: float = np.inf, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.accuracy, self.max_time, self.evaluations = accuracy, max_time, 1
        self.floor = torch.zeros_like(self.time)  # the loss that is left
        # Rows are scaled by √(2 weight_o/n_o), and n_o > D of them reduced to D by QR.
        for o, (X, y, weight) in enumerate(zip(self.X, self.y, self.output_weights, strict=True)):
            factor = (2 * weight / X.shape[1]) ** 0.5
            X, y = X * factor, y * factor
            if X.shape[1] > X.shape[2]:
                Q, X = torch.linalg.qr(X)
                target = torch.bmm(y[:, None], Q)[:, 0]
                self.floor += (y - torch.bmm(Q, target[:, :, None])[:, :, 0]).square().sum(1) / 2
                y = target
            self.X[o], self.y[o] = X, y
        self.rows = [x.shape[1] for x in self.X]
        self.residual, self.loss = self._residual(self.first, self.second)
        self.find_risk(self.beta())
        self.begin(self._correlations(self.residual).abs().amax((1, 2)))

    def advance(self) -> torch.Tensor:
        """Try one step of `steppers.ROS2` for every run; the mask (runs,) of steps that were accepted.

        The state is ν (runs, N), the time integrals of the scaled residuals r: ν' = r(ν). An increment δ of ν moves the
        weights by the exponential of the generator a_o = X_oᵀ δ_o (`_apply_generator`), which conserves the difference
        of the layers' squares to rounding, as the flow does.
        """
        self.evaluations += self.EVALUATIONS
        length = self.length()
        h = length[:, None]
        # I − γhA for the Jacobian A = −X K Xᵀ of r; `halfway` is r after a whole step h k₁ of the first stage.
        matrix = self._jacobian().mul_((ROS2.GAMMA * h)[:, :, None])
        matrix.diagonal(dim1=1, dim2=2).add_(1.0)
        factor = Cholesky(matrix)
        k1 = factor.solve(self.residual)
        halfway, _ = self._residual(*_apply_generator(self.first, self.second, self._correlations(h * k1)))
        k2 = factor.solve(halfway - 2 * k1)
        a = self._correlations(h * (1.5 * k1 + 0.5 * k2))
        error = self._correlations(0.5 * h * (k1 + k2)).abs().amax((1, 2)) / self.accuracy
        first, second = _apply_generator(self.first, self.second, a)
        residual, loss = self._residual(first, second)
        # Along the flow the loss never rises. NaN fails every comparison, so a step that overflowed is rejected too.
        sound = factor.done & (a.abs().amax((1, 2)) < _LONGEST) & (loss <= self.loss * (1 + 1e-6))
        accepted = self.finish(length, error, sound, first=first, second=second, residual=residual, loss=loss)
        self.find_risk(self.beta())
        return accepted

    def _residual(self, first: torch.Tensor, second: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """All outputs' scaled residuals in one row per run, and the loss."""
        beta = (first * second).sum(1)
        residual = torch.cat([y - self.predict(o, beta[:, o]) for o, y in enumerate(self.y)], 1)
        return residual, residual.square().sum(1) / 2 + self.floor

    def _correlations(self, nu: torch.Tensor) -> torch.Tensor:
        """a_o = X_oᵀ ν_o, (runs, O, D)."""
        parts = nu.split(self.rows, 1)
        return torch.stack([self.correlations(o, part) for o, part in enumerate(parts)], 1)

    def _jacobian(self) -> torch.Tensor:
        """X K Xᵀ (runs, N, N) over the samples of all outputs, minus the Jacobian of the residuals with respect to ν.

        Its block of outputs o and p is X_o diag(K_op) X_pᵀ, K_op = Σ_paths (δ_op first² + second_o second_p) (runs, D).
        Only the lower triangle is filled, for the Cholesky factor needs no more.
        """
        blocks, samples, squares = slices(self.rows), sum(self.rows), self.first.square().sum((1, 2))
        matrix = self.residual.new_zeros(len(self), samples, samples)
        for p, rows in enumerate(blocks):
            for o, columns in enumerate(blocks[: p + 1]):
                K = (self.second[:, :, o] * self.second[:, :, p]).sum(1)
                K = K + squares if o == p else K
                _product(self.X[p], K, self.X[o], matrix[:, rows, columns])
        return matrix


def _apply_generator(first: torch.Tensor, second: torch.Tensor, a: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """exp of the generator first' = Σ_o a_o second_o, second_o' = a_o first: where this leads after unit time.

    first (R, 2, 1, D), second (R, 2, O, D), a (R, O, D). It is a boost of (first, second) along the direction a.
    """
    a = a[:, None]
    rapidity = torch.linalg.vector_norm(a, dim=2, keepdim=True)
    direction = a / rapidity.clamp_min(torch.finfo(a.dtype).tiny)
    along = (direction * second).sum(2, keepdim=True)
    # In light-cone coordinates the boost is two exponentials; cosh and sinh would cancel where weights shrink.
    grow = torch.expm1(rapidity) * (first + along) / 2
    decay = torch.expm1(-rapidity) * (first - along) / 2
    return first + grow + decay, second + direction * (grow - decay)


def _product(left: torch.Tensor, K: torch.Tensor, right: torch.Tensor, out: torch.Tensor) -> None:
    """left diag(K) rightᵀ of every run, whose lower triangle is enough where both are the same."""
    if out.device.type != "cpu":
        out.copy_(torch.bmm(left * K[:, None], right.transpose(1, 2)))
        return
    # One by one: the library of NumPy and SciPy is several times as fast as PyTorch's on some processors.
    for run, block in enumerate(out.numpy()):
        one, k = left[run].numpy(), K[run].numpy()
        if right is left:
            block[:] = dsyrk(1.0, (one * np.sqrt(k)).T, trans=1).T
        else:
            block[:] = (one * k) @ right[run].numpy().T
