"""What a linear probe reads of the task in a layer, on held-out samples, before and after finetuning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from carryover.diagnosis.inheritance import Components, leave_one_out, ridge, with_ends
from carryover.errors import UserError
from carryover.statistics import jackknife

THERE, ADDED, LOST, ABSENT = "there before", "added", "lost", "not readable"
MARGIN = 0.1  # least change of a score that counts, as a share of what lies between chance and 1
MEANING = {
    "task_before": "held-out score of a linear probe of the task before finetuning: accuracy, or R² of targets",
    "task_after": "held-out score of a linear probe of the task after finetuning: accuracy, or R² of targets",
    "task_baseline": "held-out score of a linear probe of the task in the baseline: accuracy, or R² of targets",
    "task_gain": "score of the linear probe after finetuning less that before",
}


@dataclass(frozen=True)
class Task:
    """Targets (samples, r), a column for each class or numbers of unit variance."""

    targets: np.ndarray
    classes: bool

    @classmethod
    def of(cls, labels: Any, samples: int) -> Task:
        """Whole numbers and text (samples,) are classes; other numbers, (samples,) or (samples, r), are targets.

        Raises UserError for labels of another length, of one class, of a class for nearly each sample, and for targets
        that are not finite or do not vary.
        """
        values = np.asarray(labels)
        if values.ndim not in (1, 2) or len(values) != samples:
            raise UserError(f"labels must be one for each of the {samples} samples, got an array {values.shape}")
        if values.ndim == 1 and values.dtype.kind in "biuUSO":
            kinds, index = np.unique(values.astype(str) if values.dtype.kind == "O" else values, return_inverse=True)
            if len(kinds) == 1:
                raise UserError(f"labels must be of two classes or more, and all are {kinds[0]}")
            if 2 * len(kinds) > samples:
                raise UserError(f"no probe can be fitted to {len(kinds)} classes of {samples} samples: group labels")
            return cls(np.eye(len(kinds))[index.ravel()], True)
        if values.dtype.kind not in "biuf":
            raise UserError(f"labels must be numbers or text, got {values.dtype}")
        targets = values.reshape(samples, -1).astype(float)
        size = targets.std(axis=0)
        if not np.isfinite(targets).all() or not (size > 0).all():
            raise UserError("targets must be finite and vary between samples")
        return cls((targets - targets.mean(axis=0)) / size, False)


def probed(
    task: Task, layers: Sequence[Components], rows: np.ndarray, block: np.ndarray, confidence: float
) -> dict[str, Any]:
    """Scores before, after and of the baseline with their intervals, and the verdict on the task.

    Parameters
    ----------
    layers : components before, after and, maybe, of the baseline
    rows : (samples,), those of the task's samples that components are of
    block : (samples,), the same for samples that are left out together
    """
    targets, by_sample = task.targets[rows], {}
    for name, layer in zip(MEANING, layers, strict=False):
        predicted, _ = ridge(layer.weighted, targets, block)
        if task.classes:
            by_sample[name] = (predicted.argmax(axis=1) == targets.argmax(axis=1)).astype(float)
        else:
            by_sample[name] = 1 - ((targets - predicted) ** 2).mean(axis=1)
    by_sample["task_gain"] = by_sample["task_after"] - by_sample["task_before"]
    included = leave_one_out(block)
    chance = float(task.targets.mean(axis=0).max()) if task.classes else 0.0
    row: dict[str, Any] = {"task_chance": chance} | with_ends("task_baseline", np.nan, np.nan, np.nan)
    for name, values in by_sample.items():
        means = included @ values / included.sum(axis=1)
        row |= with_ends(name, means[0], *jackknife.interval(means, confidence))

    margin = MARGIN * (1 - chance)
    low, high = row["task_gain_low"], row["task_gain_high"]
    row["task"] = "undecided"
    if low > margin:
        row["task"] = ADDED
    elif high < -margin:
        row["task"] = LOST
    elif max(row["task_before_high"], row["task_after_high"]) < chance + margin:
        row["task"] = ABSENT
    elif -margin < low and high < margin and row["task_before_low"] > chance:
        row["task"] = THERE
    return row
