"""The batches of an ensemble's samples, epoch by epoch."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import torch

_AHEAD = 32  # epochs whose order is drawn at once; a run's orders depend on nothing but its own generator


class Batches:
    """Batches of every task of an ensemble with `runs` (R,), and `x` (R, D, n) and `y` (R, 1, n) of every task.

    Every step takes tasks of at most `batch_size` samples (0: of any size) as a whole. Each run shuffles the samples of
    the others once per epoch, with the generator `shuffles(run)`. Tasks with fewer batches than others begin again.
    """

    def __init__(self, group: Any, batch_size: int, shuffles: Callable[[int], np.random.Generator] | None) -> None:
        self.group, self.size = group, batch_size
        self.samples = [y.shape[2] for y in group.y]
        self.shuffled = [o for o, n in enumerate(self.samples) if batch_size and n > batch_size]
        if self.shuffled and shuffles is None:
            raise ValueError("batches smaller than a task need generators to shuffle with")
        self.per_epoch = max([-(-self.samples[o] // batch_size) for o in self.shuffled], default=1)
        rngs = [shuffles(int(run)) for run in group.runs] if self.shuffled and shuffles else []
        self._generators = np.array(rngs, dtype=object)
        self._epoch = 0
        self._orders: dict[int, torch.Tensor] = {}

    def epoch(self) -> Iterator[list]:
        """One list of (x (R, D, b), y (R, 1, b)) per step, an entry per task."""
        whole = list(zip(self.group.x, self.group.y, strict=True))
        if not self.shuffled:
            yield whole
            return
        if self._epoch % _AHEAD == 0:
            self._draw()
        tasks = [self._shuffled(o) if o in self.shuffled else [(x, y)] for o, (x, y) in enumerate(whole)]
        self._epoch += 1
        for step in range(self.per_epoch):
            yield [parts[step % len(parts)] for parts in tasks]

    def keep(self, which: torch.Tensor) -> None:
        """Drop the networks that are not in the boolean mask (R,)."""
        if len(self._generators):
            self._generators = self._generators[which.cpu().numpy()]
        self._orders = {o: order[which] for o, order in self._orders.items()}

    def state(self) -> dict[str, Any]:
        """What `load` takes, between two epochs."""
        generators = [json.dumps(rng.bit_generator.state) for rng in self._generators]
        return {"epoch": self._epoch, "orders": self._orders, "generators": generators}

    def load(self, state: Mapping[str, Any]) -> None:
        self._epoch, self._orders = state["epoch"], state["orders"]
        for rng, its in zip(self._generators, state["generators"], strict=True):
            rng.bit_generator.state = json.loads(its)

    def _draw(self) -> None:
        for o in self.shuffled:
            samples = np.tile(np.arange(self.samples[o]), (_AHEAD, 1))
            orders = np.stack([rng.permuted(samples, axis=1) for rng in self._generators])
            self._orders[o] = torch.as_tensor(orders, device=self.group.y[o].device)

    def _shuffled(self, o: int) -> list:
        order = self._orders[o][:, None, self._epoch % _AHEAD]  # (R, 1, n)
        x, y = self.group.x[o], self.group.y[o]
        x, y = x.gather(2, order.expand_as(x)), y.gather(2, order)
        return list(zip(x.split(self.size, 2), y.split(self.size, 2), strict=True))
