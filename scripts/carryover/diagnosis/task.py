"""What a linear probe reads of the task in a layer, on held-out samples, before and after finetuning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from carryover.diagnosis.inheritance import FOLDS, Components, leave_one_out, ridge, with_ends
from carryover.errors import UserError
from carryover.statistics import jackknife

THERE, ADDED, LOST, ABSENT, UNRELATED = "there before", "added", "lost", "not readable", "as in the baseline"
UNDECIDED = "undecided"
MARGIN = 0.1  # least change of a score that counts, as a share of what lies between chance and 1
MEANING = {
    "task_before": "held-out score of a linear probe before finetuning: balanced accuracy of classes, or R² of targets",
    "task_after": "held-out score of a linear probe after finetuning: balanced accuracy of classes, or R² of targets",
    "task_baseline": "held-out score of a linear probe of the baseline: balanced accuracy of classes, or R² of targets",
    "task_gain": "score of the linear probe after finetuning less that before",
    "task_beyond": "score of the linear probe before finetuning less that in the baseline, or less chance without one",
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
        targets = targets / np.maximum(np.abs(targets).max(axis=0), np.finfo(float).tiny)  # squares may overflow
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
    targets, included = task.targets[rows], leave_one_out(block)
    chance = 1 / task.targets.shape[1] if task.classes else 0.0
    score = partial(_balanced_accuracy if task.classes else _explained, targets, block, included)
    scores = {name: score(layer.weighted) for name, layer in zip(MEANING, layers, strict=False)}
    scores["task_gain"] = scores["task_after"] - scores["task_before"]
    scores["task_beyond"] = scores["task_before"] - scores.get("task_baseline", chance)
    row: dict[str, Any] = {"task_chance": chance} | with_ends("task_baseline", np.nan, np.nan, np.nan)
    for name, values in scores.items():
        row |= with_ends(name, values[0], *jackknife.interval(values, confidence))
    return row | {"task": _verdict(row, MARGIN * (1 - chance))}


def _balanced_accuracy(targets: np.ndarray, block: np.ndarray, included: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Balanced accuracy (1 + blocks,) of linear discriminant analysis on held-out samples, of all and less each block.

    It tells classes apart that lie on a line, which regression on classes does not. Its covariance is shrunk by the
    penalty of that regression, and all classes count alike.
    """
    labels, (_, penalty) = targets.argmax(axis=1), ridge(X, targets, block)
    found, shrinkage = np.empty_like(labels), penalty / (penalty + X.var(axis=0).mean())
    for fold in range(FOLDS):
        out = block % FOLDS == fold
        kinds = np.unique(labels[~out])  # a rare class may be missing
        found[out] = kinds[0]
        if len(kinds) > 1:
            alike = np.full(len(kinds), 1 / len(kinds))
            analysis = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage, priors=alike)
            found[out] = analysis.fit(X[~out], labels[~out]).predict(X[out])
    hits = (found == labels)[:, None] * targets
    return (included @ hits / np.maximum(included @ targets, 1)).mean(axis=1)


def _explained(targets: np.ndarray, block: np.ndarray, included: np.ndarray, X: np.ndarray) -> np.ndarray:
    """R² (1 + blocks,) of ridge regression on held-out samples, of all and without each block."""
    predicted, _ = ridge(X, targets, block)
    return 1 - included @ ((targets - predicted) ** 2).mean(axis=1) / included.sum(axis=1)


def _verdict(row: dict[str, Any], margin: float) -> str:
    """What happened to the task: lost, kept and added are decided apart; kept and added only beyond a baseline."""
    low, high = row["task_gain_low"], row["task_gain_high"]
    readable = row["task_chance"] + margin
    if max(row["task_before_high"], row["task_after_high"]) < readable:
        return ABSENT
    if high < -margin:
        return LOST
    after = row["task_after_low"] > np.nan_to_num(row["task_baseline_high"], nan=row["task_chance"])
    if low > margin and after:
        return ADDED
    if -margin < low and high < margin and row["task_beyond_low"] > 0:
        return THERE
    if max(row["task_beyond_high"], row["task_beyond_high"] + high) < margin:
        return UNRELATED
    return UNDECIDED


def in_words(row: Mapping[str, Any]) -> str:
    """The verdict on a layer as the end of a sentence that begins with its name."""
    known = {
        THERE: "what the task needs was there before",
        ADDED: "finetuning added what the task needs",
        LOST: "finetuning lost part of what the task needs",
        ABSENT: "the task cannot be read linearly, before or after",
        UNRELATED: "the task is read no better than from the baseline, before or after",
    }
    if row["task"] != UNDECIDED:
        return known[row["task"]]
    if row["task_beyond_low"] > 0:
        change = "lost part of it" if row["task_gain"] < 0 else "added to it"
        return f"what the task needs was there before, and whether finetuning {change} is undecided"
    return "whether what the task needs was there before is undecided"
