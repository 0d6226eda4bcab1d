"""What a linear probe reads, against scikit-learn's, and the verdict on the task."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.metrics import balanced_accuracy_score, r2_score
from sklearn.model_selection import PredefinedSplit, cross_val_predict

from carryover.diagnosis.diagnosis import diagnose
from carryover.diagnosis.inheritance import FOLDS, sample_blocks
from carryover.errors import UserError
from toy import diagnosed_networks as networks

X, NEW = networks.features(1500, 20), networks.features(1500, 1, seed=9)
OLD, LEARNT = networks.mixed(X, 50), networks.mixed(np.hstack([X, NEW]), 50, seed=1)
KINDS = np.array(["boot", "coat", "dress"])


def probe(values, targets):
    """Held-out predictions of scikit-learn's ridge regression with the best of the penalties."""
    folds = PredefinedSplit(sample_blocks(len(values)) % FOLDS)
    unit = np.linalg.svd(values - values.mean(axis=0), compute_uv=False)[0] ** 2 / len(values)
    found = [
        cross_val_predict(Ridge(10.0**power * len(values) * unit), values, targets, cv=folds)
        for power in (2, 0, -1, -2, -3, -4, -5, -6, -8)
    ]
    return min(found, key=lambda predicted: ((targets - predicted) ** 2).mean())


def test_the_scores_are_those_of_scikit_learn():
    sums = X[:, 0] + X[:, 1] + 0.5 * NEW[:, 0]
    labels = np.digitize(sums, [-0.7, 0.7])
    found = diagnose(OLD, LEARNT, labels=KINDS[labels])
    for name, values in (("before", OLD), ("after", LEARNT)):
        alike, folds = LinearDiscriminantAnalysis(priors=[1 / 3] * 3), PredefinedSplit(sample_blocks(1500) % FOLDS)
        accuracy = balanced_accuracy_score(labels, cross_val_predict(alike, values.astype(float), labels, cv=folds))
        assert found[f"task_{name}"].item() == pytest.approx(accuracy, abs=0.01)
    assert found["task_chance"].item() == pytest.approx(1 / 3)
    found = diagnose(OLD, LEARNT, labels=sums)
    for name, values in (("before", OLD), ("after", LEARNT)):
        score = r2_score(sums, probe(values.astype(float), sums))
        assert found[f"task_{name}"].item() == pytest.approx(score, abs=0.002)
    assert found["task_gain_low"].item() < found["task_gain"].item() < found["task_gain_high"].item()


@pytest.mark.parametrize(
    ("before", "after", "target", "verdict", "words"),
    [
        (OLD, LEARNT, NEW[:, 0], "added", "finetuning added what the task needs"),
        (LEARNT, OLD, NEW[:, 0], "lost", "finetuning lost part of what the task needs"),
        (OLD, LEARNT, X[:, 0], "there before", "what the task needs was there before"),
        (OLD, networks.selected(1500), X[:, 0], "there before", "what the task needs was there before"),
        (OLD, OLD, NEW[:, 0], "not readable", "cannot be read linearly"),
    ],
)
def test_the_headline_says_whether_what_the_task_needs_was_there(before, after, target, verdict, words):
    for labels in (target, target > 0):
        found = diagnose({"a": OLD, "b": before}, {"a": OLD, "b": after}, labels=labels)
        assert found["task"].values[1] == verdict
        assert f"In b {words}" in found.headline or f"In b the task {words}" in found.headline


LINE = np.random.default_rng(0)
FIVE = LINE.integers(0, 5, 2000)
APART, IN_LINE = LINE.normal(size=(2, 2000, 16))
APART[:, :5] += 8 * np.eye(5)[FIVE]
IN_LINE[:, 0] += 8 * (FIVE - 2)


def test_classes_in_a_line_are_told_apart_and_rare_ones_count_as_others():
    found = diagnose(APART, IN_LINE, labels=FIVE)
    assert found["task"].item() == "there before"
    assert found["task_after"].item() > 0.99
    rare = APART[:, 6] > 2.05  # 2 % of the samples
    found = diagnose(APART, IN_LINE, labels=rare)
    assert found["task"].item() == "lost"
    assert found["task_before"].item() > 0.9 > 0.75 > found["task_after"].item()


def test_what_an_unrelated_network_offers_as_well_was_not_there():
    hidden = LINE.normal(size=2000)
    some, more = LINE.normal(size=(2, 2000, 16))
    some[:, 0], more[:, 0] = some[:, 0] + 0.8 * hidden, more[:, 0] + 1.2 * hidden
    turned = some @ np.linalg.qr(LINE.normal(size=(16, 16)))[0]
    assert diagnose(some, turned, labels=hidden > 0)["task"].item() == "there before"
    found = diagnose(some, turned, labels=hidden > 0, baseline=more)
    assert found["task"].item() == "as in the baseline"
    assert "read no better than from the baseline" in found.headline


def test_what_was_there_is_said_where_its_loss_is_undecided():
    hidden = LINE.normal(size=400)
    before, after = LINE.normal(size=(2, 400, 16))
    before[:, 0], after[:, 0] = before[:, 0] + 2.2 * hidden, after[:, 0] + 1.5 * hidden
    found = diagnose(before, after, labels=hidden > 0)
    assert found["task"].item() == "undecided"
    assert "was there before, and whether finetuning lost part of it is undecided" in found.headline


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (np.zeros(9), r"labels must be one for each of the 1500 samples, got an array \(9,\)"),
        (np.arange(1500), "no probe can be fitted to 1500 classes of 1500 samples"),
    ],
)
def test_labels_that_no_probe_can_be_fitted_to_are_refused(labels, sentence):
    with pytest.raises(UserError, match=sentence):
        diagnose(OLD, LEARNT, labels=labels)
