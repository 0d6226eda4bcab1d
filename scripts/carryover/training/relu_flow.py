"""Gradient flow of shallow ReLU networks, for any number of outputs, in tens of steps.

Plain descent follows the flow with the step that its stiffest direction allows: 10³ to 10⁶ of them. Here every step is
one of `steppers.ROS2` with A = −Jᵀ D J of the present activation pattern, D the curvature of the loss. A is symmetric
and needs one factor of a matrix of the size of all samples per step (`Tangent.solver`), in single precision: its
rounding is one more A. Every run has its own step. The error in a unit is measured relative to its displacement since
the start, or to a tenth of its size where that is larger (`error_scale`). A step is rejected where this error exceeds
the accuracy, or where the loss rises by more than ten times that share, as it does beyond kinks: there the pattern of
activations is no longer that of A. Smaller rises come from stiff directions, which the next step damps, and let runs
slide along kinks. After a rejected step, steps grow slowly, for kinks stand at about equal distances.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from threadpoolctl import ThreadpoolController

from carryover.networks.relu import Weights
from carryover.training.devices import tensor, torch_device
from carryover.training.integrate import History, Values, train
from carryover.training.relu_tangent import Tangent, Vector
from carryover.training.result import Samples, Trained
from carryover.training.steppers import GROW, ROS2, TINY, Flow, error_scale, first_runs

_RISE = 10.0  # of the accuracy: relative rise of the loss in a step
_RELIEF = 1.15  # by which the largest growth grows again after a step that ended beyond a kink
_LONGEST = 1e30  # step, which single precision bears
_STILL = 1e-10  # relative change of all units that is rounding, in a step as long as all before
_PATIENCE = 300  # steps without a smaller loss: to and fro across a kink, or ever shorter ones
_APART = 1.25  # ratio of times that are recorded: a closed-form risk costs more than a step on few samples
BYTES = {"cpu": 2**26, "cuda": 2**33}  # of a chunk at a time
_MANY = 2048  # samples: with fewer, threads of NumPy's and SciPy's libraries wait for each other
_THREADS = ThreadpoolController()


def gradient_flow(
    tasks: Sequence[Samples], start: Weights, *, device: str = "auto", observe: Mapping[str, Callable] | None = None,
    **settings: Any,
) -> Trained:  # fmt: skip
    """Train every run by gradient flow on L = Σ_o mean loss of output o, until L ≤ `tolerance`.

    Parameters
    ----------
    tasks, start, tolerance, loss, observe
        Those of `relu.gradient_descent`: a task per output, and weights first (runs, H, D) and second (runs, O, H).
    on_sphere : bool
        Whether the input weights of each unit keep their length.
    trainable : container of "first" and "second"
        The layers that move: both, or the first alone.
    accuracy : float
        Bound of the error that one step makes in the weights of any unit, relative to its displacement since the
        start, or to a tenth of its size where that is larger.
    max_steps, max_time : int, and float or (runs,)
        Limits on the gradient evaluations of a run, of which a step takes two, and on its flow time.
    longer : (runs,) of int, optional
        The index of the run, equal in all else, that continues from this one's end to a later `max_time`; −1: none.

    Returns
    -------
    Trained
        `converged` is false for a run that reaches a limit, or stalls above the tolerance (samples contradict each
        other or excite no unit, a kink cannot be left); `at_rest` says whether it did at a stationary point.

    Raises
    ------
    Divergence
        The loss at the start is not finite.
    """
    place, history = torch_device(device), History(len(start.first), observe or ())
    flow = partial(_Flow, tasks=tasks, start=start, place=place, observables=observe or {}, **settings)
    _, H, D = start.first.shape
    samples = sum(task.y.shape[1] for task in tasks)
    # runs in memory at a time, each with hidden responses at three points, its kernel and its weights
    together = BYTES[place.type] // (samples * (64 * H + 8 * samples) + 80 * H * D)
    with _THREADS.limit(limits=1 if samples < _MANY else None, user_api="blas"):
        train(flow, history, together, first_runs(settings.get("longer"), len(history)))
    return history.result(start.like)


class _Flow(Flow):
    """Networks at a `Point`; `seen` is the time of the last record, `waited` counts steps since the loss was `best`."""

    PER_RUN = ("tolerance", "tangent", "point", "loss", "start_first", "start_second", "time", "seen", "step",
               "growth", "still", "best", "waited", "max_time")  # fmt: skip
    EVALUATIONS = ROS2.EVALUATIONS

    def __init__(
        self, runs: np.ndarray, *, tasks: Sequence[Samples], start: Weights, place: torch.device,
        observables: Mapping[str, Callable], tolerance: float | np.ndarray, accuracy: float = 0.03,
        max_steps: int = 10_000, max_time: float | np.ndarray = np.inf, longer: np.ndarray | None = None,
        loss: str = "squared", on_sphere: bool = False, trainable: Container[str] = ("first", "second"),
    ) -> None:  # fmt: skip
        self.runs, self.observables, self.accuracy, self.max_steps = runs, observables, accuracy, max_steps
        self.evaluations = 1  # the gradient at the start, below
        first, second = tensor(start.first[runs], place), tensor(start.second[runs], place)
        lengths = first.norm(dim=2, keepdim=True) if on_sphere else None
        self.tangent = Tangent(tasks, runs, loss, place, trainable, lengths)
        self.start_first, self.start_second = first, second
        self.point = self.tangent.at(first, second)
        self.loss = self.point.loss
        self.tolerance = torch.as_tensor(np.broadcast_to(tolerance, len(start.first))[runs], device=place)
        self.set_times(max_time, longer, len(start.first), place)
        # `waited`: steps since the smallest loss so far, `best`; `seen`: time of the last checkpoint that was recorded.
        self.waited, self.seen = torch.zeros_like(self.loss), torch.zeros_like(self.loss)
        self.best, self.growth = self.loss, torch.full_like(self.loss, GROW)
        flow = self.tangent.apply_transpose(self.point, self.point.negative_gradients)
        speed = (_sizes(flow) / _sizes((first, second)).clamp_min(TINY)).amax(1)  # of the fastest unit, over its size
        self.begin(speed)
        self.still = speed == 0  # at a stationary point, where training ends

    def find_ended(self) -> torch.Tensor:
        return super().find_ended() | self.still | (self.waited >= _PATIENCE)

    def find_unrecorded(self) -> torch.Tensor:
        return self.time > self.seen

    def observe_runs(self, which: torch.Tensor) -> dict[str, Values]:
        runs, point = self.runs[which.cpu().numpy()], self.point[which]
        values = {name: function(point.first, point.second, runs) for name, function in self.observables.items()}
        return {"time": self.time[which], "loss": self.loss[which], **values}

    def outcome(self) -> dict[str, Values]:
        return {**super().outcome(), "at_rest": self.still & (self.loss > self.tolerance)}

    def weights(self) -> list[Values]:
        return [self.point.first, self.point.second]

    def advance(self) -> torch.Tensor:
        self.evaluations += self.EVALUATIONS
        tangent, point, h = self.tangent, self.point, self.length().clamp(max=_LONGEST)
        block, weights = h[:, None, None], (point.first, point.second)
        # I + γh JᵀDJ is a matrix between weights, 10⁴ by 10⁴; by Woodbury's identity its inverse needs only the kernel
        # JJᵀ between samples. The pattern of activations of this point stands for the whole step: ROS2 keeps its order
        # with any matrix, so a kink inside of the step costs accuracy, which the error sees, but no stability.
        solve, solved = tangent.solver(point, ROS2.GAMMA * h)
        k1 = solve(tangent.apply_transpose(point, point.negative_gradients))
        ahead = tangent.at(*(weight + block * a for weight, a in zip(weights, k1, strict=True)))
        there = tangent.apply_transpose(ahead, ahead.negative_gradients)
        k2 = solve((there[0] - 2 * k1[0], there[1] - 2 * k1[1]))
        moves = (1.5 * block * a + 0.5 * block * b for a, b in zip(k1, k2, strict=True))
        new = tangent.at(*(weight + move for weight, move in zip(weights, moves, strict=True)))
        change = _sizes((k1[0] + k2[0], k1[1] + k2[1])) * (h / 2)[:, None]  # error of each unit (R, H), see `ROS2`
        sizes = _sizes(weights).clamp_min(TINY)
        displacement = _sizes((new.first - self.start_first, new.second - self.start_second))
        # The largest error of any unit, not a mean: few units learn, and a mean over a thousand would hide their error.
        error = (change / error_scale(displacement, sizes)).amax(1) / self.accuracy
        # NaN fails every comparison, so a step that overflowed is rejected too.
        sound = solved & (new.loss <= point.loss * (1 + _RISE * self.accuracy))
        moved = (_sizes((new.first - point.first, new.second - point.second)) / sizes).amax(1)
        # A short step moves little anywhere; one as long as all before that does not move is at a stationary point.
        at_rest = (moved <= _STILL) & (h >= self.time)
        accepted = self.finish(h, error, sound, loss=new.loss)
        self.still = accepted & at_rest
        self.point = new.where(accepted, point)
        self.waited = torch.where(self.loss < self.best, 0, self.waited + 1)
        self.best = self.best.minimum(self.loss)
        # Behind a kink lies the next one at about the same distance: a step that grows at once would be rejected again.
        self.growth = torch.where(sound, (self.growth * _RELIEF).clamp(max=GROW), 1.0)
        due = self.time > _APART * self.seen  # to be recorded
        self.seen = torch.where(due, self.time, self.seen)
        return due


def _sizes(vector: Vector) -> torch.Tensor:
    """Length of each unit's weights in a vector of their space, (R, H)."""
    return (vector[0].square().sum(2) + vector[1].square().sum(1)).sqrt()
