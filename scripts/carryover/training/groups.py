"""Gradient descent of a group of networks, until each one ends."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import torch

from carryover.training.course import Course
from carryover.training.history import History, Values

_BLOWN_UP = 2  # times the loss at the start: what a step too large does to a network that starts from almost nothing


def keep(holder: object, names: Iterable[str], which: torch.Tensor) -> None:
    """Keep the runs in the boolean mask `which` of attributes by run; lists and mappings hold such."""

    def kept(values: Any) -> Any:
        if isinstance(values, list):
            return [kept(value) for value in values]
        if isinstance(values, dict):
            return {name: kept(value) for name, value in values.items()}
        return (
            values[which.cpu().numpy()] if isinstance(values, np.ndarray) else None if values is None else values[which]
        )

    for name in names:
        setattr(holder, name, kept(getattr(holder, name)))


class Group(ABC):
    """Networks that are trained together."""

    runs: np.ndarray  # (R,), their indices in the caller's arrays
    rates: np.ndarray  # (R,), their learning rates
    PER_RUN: ClassVar[tuple[str, ...]]  # attributes with the run as first axis, besides
    MOVING: ClassVar[tuple[str, ...]] = ("first", "second")  # attributes that steps change

    def __len__(self) -> int:
        return len(self.runs)

    @abstractmethod
    def prepare(self) -> None:
        """Make what the steps of these networks need besides."""

    @abstractmethod
    def step(self, batch: Any, /) -> None:
        """One step of gradient descent."""

    @abstractmethod
    def losses(self) -> torch.Tensor:
        """(R,) in float64: what training is to bring to the tolerance."""

    @abstractmethod
    def observe(self, loss: torch.Tensor, /) -> Mapping[str, Values]:
        """Loss, risk and other observables (R,) where `losses` are `loss`."""

    @abstractmethod
    def weights(self) -> Sequence[Values]:
        """Arrays (R, …) that the networks can be made of."""

    def keep(self, which: torch.Tensor) -> None:
        """Drop the networks that are not in the boolean mask `which`."""
        keep(self, ("runs", "rates", *self.PER_RUN), which)
        if len(self):
            self.prepare()

    def state(self) -> dict[str, Any]:
        """What `go_on` takes."""
        return {name: getattr(self, name) for name in ("runs", *self.MOVING)}

    def go_on(self, state: Mapping[str, Any]) -> None:
        """From the start of these networks to where they were in a `state`."""
        self.keep(torch.as_tensor(np.isin(self.runs, state["runs"])))
        for name in self.MOVING:
            setattr(self, name, state[name])
        self.prepare()


class Epochs:
    """Batches of a group's samples, epoch by epoch: here none, for groups that take all there is in one step."""

    per_epoch = 1

    def epoch(self) -> Iterator[Any]:
        """One batch per step."""
        yield None

    def keep(self, which: torch.Tensor) -> None:
        """Drop the networks that the group drops."""

    def state(self) -> dict[str, Any]:
        """What `go_on` takes, between two epochs."""
        return {}

    def go_on(self, state: Mapping[str, Any]) -> None:
        """To where they were in a `state`, of the same networks."""


def descend(
    group: Group,
    batches: Epochs,
    schedule: np.ndarray,
    tolerance: float | np.ndarray,
    history: History,
    progress: Callable[[dict], None] | None = None,
) -> list[int]:
    """Train a group to its end; the runs that diverged: not finite, or twice the loss at the start.

    After the epochs of the `schedule` the networks are recorded, and those whose loss is `tolerance` or less end; it is
    one number, or one for each network of the group.
    """
    course = Course(history, group.runs)
    if course.ended:
        return course.state["diverged"]
    done, diverged = 0, []
    loss = group.losses()
    wanted = torch.as_tensor(tolerance, dtype=loss.dtype, device=loss.device).expand_as(loss)
    limit = (loss * _BLOWN_UP).maximum(wanted)
    if course.state:
        left = torch.as_tensor(np.isin(group.runs, course.state["group"]["runs"]))
        limit, wanted = limit[left], wanted[left]
        group.go_on(course.state["group"])
        batches.keep(left)
        batches.go_on(course.state["batches"])
        done, diverged = course.state["epochs"], course.state["diverged"]
    for until in schedule[schedule >= done].tolist():
        while done < until:
            for batch in batches.epoch():
                group.step(batch)
            done += 1
            if course.due():
                course.save(epochs=done, group=group.state(), batches=batches.state(), diverged=diverged)
        loss, steps = group.losses(), until * batches.per_epoch
        gone = ~(loss <= limit)  # also catches NaN
        ended = (loss <= wanted) | gone | bool(until == schedule[-1])
        values = group.observe(loss)
        history.record(group.runs, {"time": group.rates * steps, **values})
        if progress is not None:
            progress({"step": steps, "active": len(group), "loss": float(loss.max())})
        if ended.any():
            history.end(
                group.runs, group.weights(), values, ended & ~gone, evaluations=steps, converged=loss <= wanted,
                learning_rate=group.rates,
            )  # fmt: skip
            diverged += group.runs[gone.cpu().numpy()].tolist()
            group.keep(~ended)
            batches.keep(~ended)
            limit, wanted = limit[~ended], wanted[~ended]
            if not len(group):
                break
    course.end(diverged=diverged)
    return diverged
