"""Methods of integration for many gradient flows u' = F(u) side by side, and the control of their step sizes.

- `Flow`: networks that follow a flow, each by steps of its own length.
- `ROS2`: implicit, for stiff flows that need a low accuracy; any approximation of the Jacobian will do.
- `RODAS`: implicit, for stiff flows whose path must be accurate, with an exact Jacobian.
- `RKC2`: explicit, for flows whose Jacobian is large and whose stability, not accuracy, limits the step.
- `Cholesky`: the linear systems of implicit steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import torch
from scipy.linalg.blas import dtrsv, strsv
from scipy.linalg.lapack import dpotrf, spotrf

from carryover.training.devices import tensor
from carryover.training.integrate import Ensemble, History, replace_runs

TINY = torch.finfo(torch.float64).tiny
GROW = 5.0  # a step is at most so many times the last one
SHRINK = 0.2  # and at least, if its error alone was too large
_UNMOVED = 0.1  # share of a unit's size relative to which its error is measured until the unit has moved farther
_FIRST = 0.01  # relative change of the fastest weight in the first step
_SAFETY = 0.8

Function = Callable[[torch.Tensor], torch.Tensor]


class Flow(Ensemble):
    """Networks on their gradient flow, which ends at the tolerance of the loss, at `max_time`, or where the budget of
    `max_steps` gradient evaluations or the precision of the time does not bear another step.

    Runs that differ in `max_time` alone share one trajectory: where one of them ends, the next goes on.
    """

    EVALUATIONS: ClassVar[int]  # of the gradient in the next step, at most
    ORDER: ClassVar[int] = 2  # of the estimated error in the length of a step
    UNSOUND: ClassVar[float] = 0.5  # the largest factor on a step that was not sound
    growth: Any = GROW  # the largest factor on one that was, a number or (R,)
    step: torch.Tensor  # (R,), the next one's length unless the time ends before
    max_time: Any = math.inf  # a number or (R,)
    max_times: np.ndarray  # (all runs,), of the caller
    longer: np.ndarray | None = None  # (all runs,), the run that goes on where this one ends, −1 for none
    max_steps: Any = math.inf

    def begin(self, speed: torch.Tensor) -> None:
        """Set the time to 0, and the length of the first step by `speed` (R,), the largest relative change of a weight
        per unit of time. Raise Divergence if the initial loss is infinite or NaN."""
        # Later losses are finite, for steps to other ones are rejected.
        self.raise_divergence(~torch.isfinite(self.loss), "gradient flow lost its finite values")
        self.time = torch.zeros_like(speed)
        # Hairer's starting step compares a trial step of Euler's method as well. A fixed share of the fastest weight is
        # enough here: a first step that is too short costs a few steps, since each may be five times the last.
        self.step = _FIRST / speed.clamp_min(TINY)

    def set_times(
        self, max_time: float | np.ndarray, longer: np.ndarray | None, runs: int, place: torch.device
    ) -> None:
        """Set when the networks end, for all runs of the caller."""
        self.max_times, self.longer = np.broadcast_to(max_time, runs), longer
        self.max_time = tensor(self.max_times[self.runs], place)

    def go_on(self, ended: torch.Tensor, history: History) -> torch.Tensor:
        """Let each `ended` network (mask, R) go on as its `longer` run, which gets its checkpoints and its own
        `max_time`; the mask (R,) of those that have one."""
        if self.longer is None:
            return super().go_on(ended, history)
        following = np.where(ended.cpu().numpy(), self.longer[self.runs], -1)
        going = following >= 0
        history.branch(self.runs[going], following[going])
        self.runs = np.where(going, following, self.runs)
        self.max_time = tensor(self.max_times[self.runs], self.max_time.device)
        return torch.as_tensor(going, device=ended.device)

    def find_ended(self) -> torch.Tensor:
        # The last condition: flows slow down exponentially, and times reach 1e16 times the first step.
        stalled = (self.time >= self.max_time) | (self.time + self.step == self.time)
        return (self.loss <= self.tolerance) | stalled | (self.evaluations + self.EVALUATIONS > self.max_steps)

    def length(self) -> torch.Tensor:
        """Of the steps to be tried, (R,)."""
        return self.step.minimum(self.max_time - self.time)

    def finish(self, h: torch.Tensor, error: torch.Tensor, sound: torch.Tensor, **states: torch.Tensor) -> torch.Tensor:
        """Accept or reject steps of lengths h (R,), and set the next lengths; return the mask (R,) of those accepted.

        A step is accepted if it is `sound`, a mask (R,), and if its error (R,), relative to the tolerated error, is at
        most 1. Only then the time advances, and the attributes named in `states` take their new values (R, …).
        """
        accepted = sound & (error <= 1)
        for name, new in states.items():
            setattr(self, name, replace_runs(accepted, new, getattr(self, name)))
        # The last step ends at `max_time` without rounding.
        there = torch.where(h == self.max_time - self.time, self.max_time, self.time + h)
        self.time = torch.where(accepted, there, self.time)
        # The error of a step grows like h^ORDER, so this length would give .8^ORDER of the tolerated one. The
        # controller has no memory (a PI controller has): at a kink the last errors say nothing of the next.
        factors = (_SAFETY * error.clamp_min(1e-12) ** (-1 / self.ORDER)).clamp(min=SHRINK).clamp(max=self.growth)
        # The error of an unsound step means little, and may be NaN: its length shrinks in any case.
        self.step = h * torch.where(sound, factors, factors.nan_to_num(SHRINK).clamp(max=self.UNSOUND))
        return accepted


def first_runs(longer: np.ndarray | None, runs: int) -> np.ndarray:
    """Indices of those of all runs that go on from no other one: see `Flow`."""
    return np.setdiff1d(np.arange(runs), [] if longer is None else longer)


class ROS2:
    """Rosenbrock method of order 2 with two stages, L-stable (Verwer, Spee, Blom & Hundsdorfer 1999).

        (I − γhA) k₁ = F(u),  (I − γhA) k₂ = F(u + h k₁) − 2 k₁,  u ← u + h (3k₁ + k₂)/2,  error h (k₁ + k₂)/2

    It keeps its order whatever matrix A stands for the Jacobian (W-method).
    """

    # The method is L-stable for γ = 1 ± 1/√2: its damping of stiff directions tends to 0 with h. The smaller γ has the
    # smaller error, and a matrix that is nearer to the identity. The error estimate is the difference from u + h k₁, of
    # order 1, so it costs nothing.
    GAMMA = 1 - 0.5**0.5
    EVALUATIONS = 2  # of F in a step


class RODAS:
    """Rosenbrock method of order 4 with an embedded one of order 3, L-stable and stiffly accurate.

    Hairer and Wanner ("Solving ordinary differential equations II", IV.7), in the form without products with J:

        (1/(γh) − J) U_i = F(u + Σ_j a_ij U_j) + Σ_j c_ij U_j / h.
    """

    # The coefficients are those of the authors' program RODAS. It is stiffly accurate: the last stage starts at the
    # embedded solution and ends at the solution, so that the last U is the error itself, and the error of stiff
    # directions is damped as they are.
    GAMMA = 0.25
    EVALUATIONS = 6
    ORDER = 4  # of the error, h⁴: that of the embedded solution
    A = (
        (),
        (1.544,),
        (0.9466785280815826, 0.2557011698983284),
        (3.314825187068521, 2.896124015972201, 0.9986419139977817),
        (1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950),
    )
    C = (
        (),
        (-5.6688,),
        (-2.430093356833875, -0.2063599157091915),
        (-0.1073529058151375, -9.594562251023355, -20.47028614809616),
        (7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160),
        (8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136, -6.058818238834054),
    )

    @classmethod
    def step(
        cls, velocity: Function, solve: Function, start: torch.Tensor, first: torch.Tensor, h: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """One step of every run.

        Parameters
        ----------
        velocity : F of states (runs, k)
        solve : function of right sides (runs, k)
            The solutions U (runs, k) of (1/(γh) − J) U = right, with the Jacobian J of F at the start.
        start, first : (runs, k)
            The state, and F of it.
        h : (runs, 1)

        Returns
        -------
        u, error : (runs, k)
            The state after the step, and its difference from the embedded method's.
        """
        stages: list[torch.Tensor] = []
        for weights, couplings in zip(cls.A, cls.C[:-1], strict=True):
            right = velocity(start + _combine(weights, stages)) if stages else first
            stages.append(solve(right + _combine(couplings, stages) / h if stages else right))
        # The embedded solution of order 3, at which the last stage starts. That stage's U is the error.
        near = start + _combine(cls.A[-1], stages[:-1]) + stages[-1]
        error = solve(velocity(near) + _combine(cls.C[-1], stages) / h)
        return near + error, error


def _combine(weights: tuple[float, ...], stages: list[torch.Tensor]) -> torch.Tensor:
    total = weights[0] * stages[0]
    for weight, stage in zip(weights[1:], stages[1:], strict=True):
        total = total + weight * stage
    return total


class RKC2:
    """Runge–Kutta–Chebyshev method of order 2, explicit (Sommeijer, Shampine & Verwer 1998).

    With s stages it is stable for steps of .65 (s² − 1) over the spectral radius of the Jacobian, if the eigenvalues
    are near the negative axis, as those of gradient flow are: a step s times as long costs √s times as many
    evaluations. From F₀ = F(y)

        Y₁ = y + μ̃₁ h F₀,  Y_j = (1 − μ_j − ν_j) y + μ_j Y_{j−1} + ν_j Y_{j−2} + μ̃_j h F(Y_{j−1}) + γ̃_j h F₀,

    Y_s is the new point, and .8 (y − Y_s) + .4 h (F₀ + F(Y_s)) the error of a step.
    """

    ORDER = 3
    # Without damping, the stability polynomial touches 1 in modulus inside of its interval, and stiff directions would
    # not decay there. ε = 2/13 keeps it below 1 − ε/3 at 2 % of the length: 2/3 (1 − 2/15 ε) = .653.
    LIMIT = 0.653  # of h times the spectral radius, over s² − 1
    _DAMPING = 2 / 13

    @classmethod
    def stages_for(cls, steps: np.ndarray, radius: np.ndarray) -> np.ndarray:
        """The fewest stages, at least 2, for which steps (R,) are stable at spectral radii (R,)."""
        return np.maximum(2, np.ceil(np.sqrt(1 + steps * radius / cls.LIMIT))).astype(np.int64)

    @classmethod
    @lru_cache(maxsize=256)
    def coefficients(cls, stages: int) -> np.ndarray:
        """(stages + 1, 4): μ_j, ν_j, μ̃_j and γ̃_j of stage j from 1 on; of the first, μ̃ alone."""
        # Stage j has the stability polynomial 1 − b_j T_j(w0) + b_j T_j(w0 + w1 z), T_j being Chebyshev's; its b_j =
        # T″_j(w0)/T′_j(w0)² makes it exp(c_j z) to order 2, with c_j = 1 at the last stage.
        w0 = 1 + cls._DAMPING / stages**2
        T, first, second = (np.zeros(stages + 1) for _ in range(3))  # Chebyshev polynomials at w0, and derivatives
        T[:2], first[1] = (1, w0), 1
        for j in range(2, stages + 1):
            T[j] = 2 * w0 * T[j - 1] - T[j - 2]
            first[j] = 2 * T[j - 1] + 2 * w0 * first[j - 1] - first[j - 2]
            second[j] = 4 * first[j - 1] + 2 * w0 * second[j - 1] - second[j - 2]
        w1 = first[stages] / second[stages]
        b = np.full(stages + 1, second[2] / first[2] ** 2)
        b[2:] = second[2:] / first[2:] ** 2
        table = np.zeros((stages + 1, 4))
        table[1, 2] = b[1] * w1
        table[2:, 0] = 2 * b[2:] * w0 / b[1:-1]
        table[2:, 1] = -b[2:] / b[:-2]
        table[2:, 2] = 2 * b[2:] * w1 / b[1:-1]
        table[2:, 3] = -(1 - b[1:-1] * T[1:-1]) * table[2:, 2]
        return table

    @classmethod
    def step(
        cls, velocity: Function, start: torch.Tensor, first: torch.Tensor, h: torch.Tensor, stages: np.ndarray
    ) -> torch.Tensor:
        """The states (R, …) after one step of length h (R, 1, …) from `start`, where F is `first`, with stages (R,)."""
        table = np.zeros((len(stages), stages.max() + 1, 4))
        for run, count in enumerate(stages):
            table[run, : count + 1] = cls.coefficients(int(count))
        mu, nu, tilde, gamma = torch.as_tensor(table, device=h.device)[..., None, None].unbind(2)
        counts = torch.as_tensor(stages, device=h.device)[:, None, None]
        before, now = start, start + tilde[:, 1] * h * first
        for j in range(2, int(stages.max()) + 1):
            new = (1 - mu[:, j] - nu[:, j]) * start + mu[:, j] * now + nu[:, j] * before
            new += h * (tilde[:, j] * velocity(now) + gamma[:, j] * first)
            before, now = now, torch.where(j <= counts, new, now)  # runs with fewer stages stay at their last
        return now


class Cholesky:
    """Factors of positive definite matrices (R, n, n), whose lower triangles alone are read and whose memory they take.

    On the CPU matrices are factorised one by one by SciPy's library: PyTorch's takes five times as long on some
    processors.
    """

    def __init__(self, matrices: torch.Tensor) -> None:
        self.factors, self._on_cpu = matrices, matrices.device.type == "cpu"
        if self._on_cpu:
            potrf = dpotrf if matrices.dtype == torch.float64 else spotrf
            arrays = matrices.numpy().mT  # in Fortran's order, where lower triangles are upper ones
            failed = torch.tensor([potrf(one, lower=0, overwrite_a=1, clean=0)[1] for one in arrays])
        else:
            self.factors, failed = torch.linalg.cholesky_ex(matrices)
        self.done = failed == 0  # (R,), whether there is a factor

    def solve(self, right: torch.Tensor) -> torch.Tensor:
        """Solutions (R, n) for right sides (R, n)."""
        if not self._on_cpu:
            return torch.cholesky_solve(right[:, :, None], self.factors)[:, :, 0]
        # Two triangular solves, by Uᵀ and then U; LAPACK's potrs, which does both, takes up to four times as long.
        trsv = dtrsv if right.dtype == torch.float64 else strsv
        pairs = zip(self.factors.numpy().mT, right.numpy(), strict=True)
        return torch.from_numpy(np.stack([trsv(one, trsv(one, values, trans=1)) for one, values in pairs]))


def error_scale(displacement: torch.Tensor, size: torch.Tensor) -> torch.Tensor:
    """What the error of a step in units is relative to, for their displacement since the start and their size.

    An error relative to size alone would hide what matters where weights are large against their motion, as after
    rescaling by 100.
    """
    # Relative to the displacement alone it would be infinite in the first step; a tenth of the size bounds it.
    return displacement.maximum(_UNMOVED * size)
