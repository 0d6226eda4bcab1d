"""Forecasts of runs before they are trained, from their own samples, and scores of the literature next to them.

A family may have a file views.py, whose function `views(problem, p)` yields a `View` of each run of a `Batch`, in
order. Where the parameter `forecast` is set, runs that start from a pretrained network get the variables of `MEANING`.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from carryover.config import plugins
from carryover.families.stages import Variables
from carryover.measures import transfer_scores
from carryover.measures.dimensionality import cka
from carryover.measures.forecast import CLASSIFIER_MEANING, ENDS, MEANING
from carryover.statistics.held_out import LEAST, HeldOut, compare_errors, predict_held_out
from carryover.statistics.intervals import LEVEL
from carryover.training import kernel_ridge

_compare = partial(compare_errors, confidence=1 - LEVEL, of_next=False)
"""Of the mean of networks drawn anew, as the archived benchmark was declared."""


class Start(NamedTuple):
    """Where training starts: kernels (n, n), any of which may stand for what it learns, and outputs (n,)."""

    kernels: Sequence[np.ndarray]
    outputs: np.ndarray | float = 0.0


class View(NamedTuple):
    """What a run has before it is trained.

    Features (n, k) are those of the pretrained network and of networks drawn anew, starts those of finetuning and of
    training from scratch, of one network each, or of several drawn anew. Probabilities (n, source classes) are those
    that the pretrained network gives, and networks drawn anew, where it was pretrained as a classifier."""

    features: np.ndarray
    fresh: Sequence[np.ndarray]
    targets: np.ndarray
    finetuning: Start
    scratch: Sequence[Start]
    probabilities: np.ndarray | None = None
    fresh_probabilities: Sequence[np.ndarray] = ()


def relu_view(first: np.ndarray, drawn: Sequence[np.ndarray], inputs: np.ndarray, targets: np.ndarray) -> View:
    """The `View` of a network with input weights `first` (H, D), and of networks with newly `drawn` ones, at `inputs`
    (n, D) with `targets` (n,).

    The readout of a unit is taken to be as large as the norm of its input weights. The actual one starts near 0, at
    which the tangent kernel would ignore the input weights, although training makes the readout grow.
    """

    def start(units: np.ndarray) -> tuple[np.ndarray, Start]:
        features = np.maximum(inputs @ units.T, 0)
        tangent = kernel_ridge.kernel(units, np.linalg.norm(units, axis=1), inputs, inputs)
        return features, Start([features @ features.T, tangent])

    features, own = start(first)
    fresh, scratch = zip(*map(start, drawn), strict=True)
    return View(features, fresh, targets, own, scratch)


def forecast_problem(problem: Any, p: Any) -> Variables:
    """`forecast_runs` of the runs of a `Batch` with this problem, of the family whose parameters these are."""
    family = type(p).__module__.rpartition(".")[0]
    return forecast_runs(plugins.load(f"{family}.views").views(problem, p))


def forecast_runs(views: Iterable[View]) -> Variables:
    """`Variables` (run,) of the views of all runs."""
    rows = [_forecast(view) if len(view.targets) >= LEAST else {} for view in views]
    meaning = MEANING | {name: text for name, text in CLASSIFIER_MEANING.items() if any(name in row for row in rows)}
    return {name: ("run", np.array([row.get(name, np.nan) for row in rows]), text) for name, text in meaning.items()}


def _forecast(view: View) -> dict[str, Any]:
    """{variable: value} of a view."""
    y = view.targets[:, None]
    spread = ((y - y.mean()) ** 2).sum(axis=1)

    def predict(start: Start) -> HeldOut:
        return predict_held_out(start.kernels, (view.targets - start.outputs)[:, None])

    held = {
        "probe": [predict(Start([view.features @ view.features.T]))],
        "finetune": [predict(view.finetuning)],
        "scratch": [predict(start) for start in view.scratch],
    }
    errors = {name: [one.errors for one in found] for name, found in held.items()}
    row: dict[str, Any] = {"forecast_variance": spread.mean()}
    for name, own in errors.items():
        ratio = _compare(own, [spread])
        ends = (ratio.value, ratio.high, ratio.low)
        row |= {f"forecast_{name}{end}": 1 - 10**value for end, value in zip(ENDS, ends, strict=True)}
        if name != "scratch":
            gain = _compare(errors["scratch"], own)
            row |= {f"forecast_{name}_gain{end}": value for end, value in zip(ENDS, gain[:3], strict=True)}
            scratch, fitted = ([one.fitted for one in held[arm]] for arm in ("scratch", name))
            row[f"forecast_{name}_gain_fitted"] = _compare(scratch, fitted).value
    scores = _scores(view.features, view.targets)
    fresh = [_scores(features, view.targets) for features in view.fresh]
    if view.probabilities is not None:
        scores |= _classifier_scores(view.probabilities, view.targets)
        drawn = [_classifier_scores(probabilities, view.targets) for probabilities in view.fresh_probabilities]
        fresh = [one | other for one, other in zip(fresh, drawn, strict=True)]
    row |= {f"score_{name}": value for name, value in scores.items()}
    return row | {f"score_{name}_fresh": np.mean([one[name] for one in fresh]) for name in scores}


def _classifier_scores(probabilities: np.ndarray, targets: np.ndarray) -> dict[str, float]:
    """{score: value} of the source classes' probabilities (n, classes) at samples of two target classes."""
    labels = (targets > targets.mean()).astype(int)
    return {
        "leep": transfer_scores.leep(probabilities, labels),
        "nce": transfer_scores.nce(probabilities.argmax(axis=1), labels),
    }


def _scores(features: np.ndarray, targets: np.ndarray) -> dict[str, float]:
    """{name: value} of transferability scores from the literature, for features (n, k) and targets (n,).

    A score is NaN where it is undefined. Scores of classes take more than two distinct targets in bins of equal size.
    """
    two = len(np.unique(targets)) == 2
    labels = (targets > targets.mean()).astype(int) if two else transfer_scores.discretise(targets)
    functions = {
        "logme": partial(transfer_scores.logme, features, targets),
        "h_score": partial(transfer_scores.h_score, features, labels),
        "transrate": partial(transfer_scores.transrate, features, labels),
        "gbc": partial(transfer_scores.gbc, features, labels),
        "parc": partial(transfer_scores.parc, features, targets),
        "alignment": partial(cka, features, targets[:, None]),
    }
    values = {}
    for name, function in functions.items():
        try:
            values[name] = function()
        except ValueError:  # too few or constant features; a UserError is a ValueError
            values[name] = np.nan
    return values
