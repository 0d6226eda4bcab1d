"""Whole histories as a practitioner meets them, judged by what the headline and the verdicts of `compare` say.

What is right is decided by how a case was made: readings by layer and of the task (any of those given), and the share
that the headline must give. An undecided reading is undecided, unless its sentence says more than is right; every other
reading misleads.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import xarray as xr
from torch import nn

from carryover.diagnosis.comparison import compare
from carryover.diagnosis.regimes import ADD, CONSTANT, REPLACE, REWEIGHT, SELECT, UNCHANGED, UNDECIDED
from carryover.diagnosis.task import ABSENT, ADDED, LOST, THERE, UNRELATED
from toy.truths.histories import (
    EVERY,
    NEW,
    PARITY,
    SUMS,
    Digits,
    Products,
    appears,
    averaged,
    bright,
    class_projected_out,
    classes,
    finetuned,
    five_in_order,
    forms,
    goes,
    memorised,
    met,
    on_a_line,
    positive,
    redrawn,
    repeated,
    silent,
    top,
    twice,
)  # fmt: skip
from toy.truths.weights import Rng, normal

NEAR = 10  # percentage points by which the share in the headline, which is beyond the baseline, may be off


@dataclass(frozen=True)
class Situation:
    name: str
    right: dict[str, Any]  # sets of readings of "first", "last" and "task"; "share" in per cent
    make: Callable[[Rng, int], dict[str, Any]]  # what `compare` is given, from a generator of its own and the seed
    kind: str = "practice"

    def diagnosed(self, seed: int) -> xr.Dataset:
        given = self.make(np.random.default_rng([zlib.crc32(self.name.encode()), seed]), seed)
        return compare(**{"layers": ["first", "last"], "labels": None, "progress": False} | given)


def reading(found: xr.Dataset, right: dict[str, Any]) -> str:
    """right, undecided or wrong, which is a reading that misleads."""
    told = [(found["regime"].sel(layer=name).item(), right[name]) for name in ("first", "last") if name in right]
    if "task" in right:
        *others, word = [word for word in found["task"].values if word]
        told += [(one, right["task"]) for one in (word, *(one for one in others if one in (ADDED, LOST)))]
        if word == UNDECIDED and "was there before, and" in found.headline and not {THERE, LOST} & {*right["task"]}:
            return "wrong"
    shares = [int(share) for share in re.findall(r"(\d+)%", found.headline)]
    if "share" in right and all(abs(share - right["share"]) > NEAR for share in shares):
        return "wrong"
    if any(one not in (*allowed, UNDECIDED) for one, allowed in told):
        return "wrong"
    return UNDECIDED if UNDECIDED in [one for one, _ in told] else "right"


def both(readings, **more):
    return {"first": readings, "last": readings} | more


SAME, INHERITED, NOT_LOST = {UNCHANGED}, {UNCHANGED, REWEIGHT, SELECT}, {THERE, UNRELATED}
ONES, FALLING = np.ones(20), np.arange(1, 21) ** -0.5
mlp, cnn, transformer = (partial(met, Products, kind) for kind in ("mlp", "cnn", "transformer"))
digits_mlp, digits_cnn = (partial(met, Digits, kind) for kind in ("mlp", "cnn"))
related, shortly = finetuned(SUMS), finetuned(EVERY, steps=100)
head, head_of_parity = (finetuned(what, parts=("head",), rate=0.01) for what in (SUMS, PARITY))
frozen = partial(finetuned, parts=("last", "head"), steps=400, rate=0.01)

_TABLE = [  # name, what is right, how it is made
    ("head alone, CNN", both(SAME, task={THERE}), cnn(head, positive(SUMS))),
    ("head alone, transformer", both(SAME, task={THERE}), transformer(head, positive(SUMS))),
    ("related task, MLP", both(INHERITED, task={THERE}), mlp(related, positive(SUMS))),
    ("related task, transformer", both(INHERITED, task={THERE}), transformer(related, positive(SUMS))),
    ("random labels, new samples", {"task": {ABSENT}}, digits_mlp(partial(memorised, new=True))),
    ("random labels, learnt by heart", {"task": {ADDED}}, digits_mlp(memorised)),
    ("two finetunings on a related task", both({UNCHANGED, REWEIGHT}, task={THERE}),
     mlp(twice(related), positive(SUMS))),
    ("two finetunings of the head alone", both(SAME, task={THERE}), mlp(twice(head), positive(SUMS))),
    ("class projected out, MLP on digits", {"last": INHERITED, "task": {LOST}},
     digits_mlp(class_projected_out, lambda task: classes(task) == 3)),
    ("class of three forms projected out", {"last": {UNCHANGED, SELECT}, "task": {LOST}}, goes(0.15, 3, top(0.3, 3))),
    ("ordinal classes of a form that is reweighted", {"last": {REWEIGHT}, "task": {THERE}},
     forms(ONES, np.r_[2 * ONES[:10], ONES[10:]], five_in_order)),
    ("ordinal classes of a new form", {"last": SAME, "task": {ADDED}},
     forms(np.r_[0, ONES], np.r_[1, ONES], five_in_order)),
    ("rare class lost", {"last": SAME, "task": {LOST}}, goes(0.05, 1, top(0.02))),
    ("rare class of three lost", {"last": SAME, "task": {LOST}},
     goes(0.05, 1, lambda forms: np.where(top(0.02)(forms), 2, forms[:, 1] > 0))),
    *((f"drawn anew, {kind}", both({REPLACE}, task={LOST}), met(Products, kind, redrawn, positive(SUMS)))
      for kind in ("mlp", "cnn", "transformer")),
    ("dead unit wakes, MLP on digits", {"first": SAME},
     digits_mlp(partial(silent, when="before", part="first", units=0))),
    ("ten dead units of 20 wake", {"last": {ADD}}, forms(np.r_[ONES[:10], 0 * ONES[:10]], ONES, units=True)),
    ("mean of before and finetuned, MLP", both(INHERITED, task={THERE}),
     mlp(lambda *told: averaged(*told, related), positive(SUMS))),
    ("mean of before and two finetuned, CNN on digits", both(INHERITED, task=NOT_LOST),
     digits_cnn(lambda *told: averaged(*told, shortly, shortly), classes)),
    ("first layer frozen, new products, MLP", {"first": SAME, "task": {ADDED}}, mlp(frozen(NEW), positive(NEW))),
    ("first layer frozen, parity, CNN on digits", {"first": SAME, "task": NOT_LOST},
     digits_cnn(frozen(PARITY), lambda task: classes(task) % 2)),
    ("finetuned on noisy digits, MLP", both(INHERITED, task=NOT_LOST),
     digits_mlp(finetuned(EVERY, seen=lambda rng, X: X + 0.5 * normal(rng, *X.shape)), classes)),
    ("finetuned on shifted digits, CNN", both(INHERITED, task=NOT_LOST),
     digits_cnn(finetuned(EVERY, seen=lambda rng, X: X.roll(int(rng.integers(-1, 2)), 3)), classes)),
    ("new direction of 25 %", {"last": SAME, "share": 75}, appears(0.25, ONES)),
    ("new direction of 50 %", {"last": SAME, "share": 50}, appears(0.5, FALLING)),
    ("new direction of 70 %", {"last": SAME, "share": 30}, appears(0.7, ONES)),
    ("class projected out, 34 % kept", {"last": SAME, "task": {LOST}, "share": 34}, goes(0.66, 1, top(0.2))),
    ("class of three forms projected out, 34 % kept", {"last": {UNCHANGED, SELECT}, "task": {LOST}, "share": 34},
     goes(0.66, 3, top(0.2, 3))),
    ("five classes on a line", {"last": {SELECT}, "task": NOT_LOST}, on_a_line),
    ("five classes on a line, ReLU", {"task": NOT_LOST}, lambda *told: on_a_line(*told, nn.ReLU())),
    ("stochastic layer drawn anew", {"last": {REPLACE}, "task": {LOST}}, forms(ONES, None, top(0.5), noise=0.3)),
    ("posterior collapses", {"last": {SELECT, REPLACE}, "task": {LOST}}, forms(ONES, 0 * ONES, top(0.5), noise=0.5)),
    ("last layer dies, MLP on digits", {"first": SAME, "last": {CONSTANT}, "task": {LOST}},
     digits_mlp(partial(silent, when="after", part="last"), classes)),
    ("dead layer wakes, CNN on digits", {"first": SAME, "last": {CONSTANT}},
     digits_cnn(partial(silent, when="before", part="last"))),
    ("drawn anew, images repeated", both({REPLACE}), digits_mlp(partial(repeated, noise=0.0))),
    ("random labels of crops", {"task": {ABSENT}}, digits_mlp(partial(repeated, noise=0.3))),
    ("brightness, head alone, MLP on digits", both(SAME, task={UNRELATED}), digits_mlp(head_of_parity, bright)),
    ("brightness, head alone, CNN on digits", both(SAME, task={UNRELATED}), digits_cnn(head_of_parity, bright)),
]  # fmt: skip
CASES = [Situation(*row) for row in _TABLE]
QUICK = [case for case in CASES if "classes" in case.name or "direction" in case.name or "34" in case.name]
"""Of layers that are not trained."""
