"""What a linear probe reads of the task in a layer, on held-out samples, before and after finetuning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from carryover.diagnosis.inheritance import FOLDS, Components, leave_one_out, ridge, with_ends
from carryover.errors import UserError
from carryover.statistics import jackknife

THERE, ADDED, LOST, ABSENT, UNRELATED = "there before", "added", "lost", "not readable", "as in the baseline"
UNDECIDED = "undecided"
_FALLEN = 0.4  # least fall of a class's recall, relative to what was above chance; two merged classes lose half
_LEAST = 20  # samples of a class that may count as lost
MARGIN = 0.1  # least change of a score that counts, as a share of what lies between chance and 1
MEANING = {
    "task_before": "held-out score of a linear probe before finetuning: balanced accuracy of classes, or R² of targets",
    "task_after": "held-out score of a linear probe after finetuning: balanced accuracy of classes, or R² of targets",
    "task_baseline": "held-out score of a linear probe of the baseline: balanced accuracy of classes, or R² of targets",
    "task_gain": "score of the linear probe after finetuning less that before",
    "task_beyond": "score of the linear probe before finetuning less that in the baseline, or less chance without one",
}


@dataclass(frozen=True)
class Targets:
    """Targets (samples, r), a column for each class or numbers of unit variance."""

    targets: np.ndarray
    classes: bool

    @classmethod
    def of(cls, labels: Any, samples: int) -> Targets:
        """Whole numbers, text and only 0. and 1. (samples,) are classes; other numbers, (samples,) or (samples, r),
        are targets, of which those that do not vary are left out.

        Raises UserError for labels of another length, of one class, of a class for nearly each sample, of whole numbers
        in several columns, and for targets that are not finite or do not vary.
        """
        values = np.asarray(labels)
        if values.ndim not in (1, 2) or len(values) != samples:
            raise UserError(f"labels must be one for each of the {samples} samples, got an array {values.shape}")
        truth = values.dtype.kind in "biuf" and np.isin(values, (0, 1)).all()
        if values.ndim == 2 and values.shape[1] > 1 and values.dtype.kind in "iu" and not truth:
            raise UserError("labels in several columns must be 0 or 1, or floats if they are numbers: not of tokens")
        if values.ndim == 1 and (values.dtype.kind in "biuUSO" or truth):
            kinds, index = np.unique(values.astype(str) if values.dtype.kind == "O" else values, return_inverse=True)
            if len(kinds) == 1:
                raise UserError(f"labels must be of two classes or more, and all are {kinds[0]}")
            if 2 * len(kinds) > samples:
                few = f"{len(kinds)} classes of {samples} samples"
                raise UserError(f"no probe can be fitted to {few}: group labels, or give floats if they are numbers")
            return cls(np.eye(len(kinds))[index.ravel()], True)
        if values.dtype.kind not in "biuf":
            raise UserError(f"labels must be numbers or text, got {values.dtype}")
        targets = values.reshape(samples, -1).astype(float)
        if not (finite := np.isfinite(targets).all(axis=1)).all():
            raise UserError(f"labels must be finite, and that of sample {int(finite.argmin())} is not")
        targets = targets / np.maximum(np.abs(targets).max(axis=0), np.finfo(float).tiny)  # squares may overflow
        varying = targets.std(axis=0) > 0
        if not varying.any():
            raise UserError("labels must vary between samples")
        targets = targets[:, varying]
        return cls((targets - targets.mean(axis=0)) / targets.std(axis=0), False)


def probe_task(
    task: Targets, layers: Sequence[Components], rows: np.ndarray, block: np.ndarray, confidence: float
) -> dict[str, Any]:
    """Held-out scores of linear probes on one layer, with their intervals, and the verdict on the task.

    Parameters
    ----------
    layers : components of the layer before and after finetuning and, if there is one, of the baseline
    rows : (samples,) indices, among the task's samples, of those that the components are of
    block : (samples,) number of each one's block; a block is held out as a whole

    Returns
    -------
    {variable: value} of the variables of `MEANING` with the ends of their intervals (`_low`, `_high`), of chance
    (`task_chance`), of the number of classes or targets that were lost (`task_lost`), and of the verdict (`task`).
    """
    targets, included = task.targets[rows], leave_one_out(block)
    chance = 1 / task.targets.shape[1] if task.classes else 0.0
    # The first three names of `MEANING` are those of the layers' scores: (1 + blocks, r) of all samples, then without
    # each block, by class or target.
    by_target = {
        name: _scores(task.classes, targets, block, included, layer.variance_scores)
        for name, layer in zip(MEANING, layers, strict=False)
    }
    scores = {name: values.mean(axis=1) for name, values in by_target.items()}
    scores["task_gain"] = scores["task_after"] - scores["task_before"]
    scores["task_beyond"] = scores["task_before"] - scores.get("task_baseline", chance)
    row: dict[str, Any] = {"task_chance": chance} | with_ends("task_baseline", np.nan, np.nan, np.nan)
    for name, values in scores.items():
        row |= with_ends(name, values[0], *jackknife.interval(values, confidence))
    before, after = (by_target[name][0] for name in ("task_before", "task_after"))
    # A class is lost if it was recognised before, nearer to a perfect score than to chance, and its score fell.
    recognised, fell = before > (1 + chance) / 2, before - after > _FALLEN * (before - chance)
    row["task_lost"] = (recognised & fell & (np.abs(targets).sum(axis=0) >= _LEAST)).sum()
    return row | {"task": _verdict(row, MARGIN * (1 - chance))}


def _scores(classes: bool, targets: np.ndarray, block: np.ndarray, included: np.ndarray, X: np.ndarray) -> np.ndarray:
    """(1 + blocks, r) share of each class that is found on held-out samples, or R² of each target, of all samples and
    leaving out each block. The mean over classes is the balanced accuracy."""
    if not classes:
        predicted, _ = ridge(X, targets, block)
        return 1 - included @ (targets - predicted) ** 2 / included.sum(axis=1)[:, None]
    hits = (_classes(targets, block, X) == targets.argmax(axis=1))[:, None] * targets
    return included @ hits / np.maximum(included @ targets, 1)


def _classes(targets: np.ndarray, block: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Class (samples,) that linear discriminant analysis predicts for each sample, from the other folds of blocks.

    targets (samples, classes) are one-hot, X (samples, k) features. Unlike regression on one-hot targets, the analysis
    separates classes whose means lie on a line. All classes have the same prior probability.
    """
    # The best penalty of regression regularises the covariance, too: shrunk by this share it is Σ + penalty I, scaled.
    labels, (_, penalty) = targets.argmax(axis=1), ridge(X, targets, block)
    found, shrinkage = np.empty_like(labels), penalty / (penalty + X.var(axis=0).mean())
    for fold in range(FOLDS):
        out = block % FOLDS == fold
        kinds = np.unique(labels[~out])  # a rare class may be missing
        found[out] = kinds[0]
        if len(kinds) > 1 and X.any():  # the features of a constant layer are all 0
            equal = np.full(len(kinds), 1 / len(kinds))
            analysis = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage, priors=equal)
            found[out] = analysis.fit(X[~out], labels[~out]).predict(X[out])
    return found


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
    if -margin < low and high < margin and row["task_beyond_low"] > 0 and row["task_before"] > readable:
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
    if row["task"] == THERE and row["task_lost"]:
        lost, kind = f"{row['task_lost']:.0f}", "classes" if row["task_chance"] else "targets"
        return f"{known[THERE]}, but of its {kind} {lost} can no longer be recognised"
    if row["task"] != UNDECIDED:
        return known[row["task"]]
    if row["task_beyond_low"] > 0 and row["task_before"] > row["task_chance"] + MARGIN * (1 - row["task_chance"]):
        change = "lost part of it" if row["task_gain"] < 0 else "added to it"
        return f"what the task needs was there before, and whether finetuning {change} is undecided"
    return "whether what the task needs was there before is undecided"
