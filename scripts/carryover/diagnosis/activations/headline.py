"""A diagnosis in a few sentences: verdicts, what is kept along the depth, the task, the weights, and warnings."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np
from xarray import Dataset

from carryover.diagnosis.activations import task
from carryover.diagnosis.activations.regimes import WORDS

_BANDS = ((0.8, "keep 80 % or more"), (0.5, "keep 50 to 80 %"), (0.2, "keep 20 to 50 %"), (-1, "keep less than 20 %"))
_TASK = {
    task.THERE: "what the task needs was there before",
    task.ADDED: "finetuning added what the task needs",
    task.LOST: "finetuning lost part of what the task needs",
    task.ABSENT: "the task cannot be read linearly, before or after",
    "undecided": "whether what the task needs was there before is undecided",
}


def headline(result: Dataset) -> str:
    """Sentences on what `diagnose` returned, as '2 layers: select in 1 (conv3), undecided in 1 (conv5). …'."""
    said = [verdicts(result), _profile(result), _on_task(result), _control(result), result.attrs.get("note", "")]
    if warned := [name for name, text in _column(result, "warning") if text]:
        said.append(f"Read the warning{'s' * (len(warned) > 1)} of {_listed(warned)}.")
    return " ".join(sentence for sentence in said if sentence)


def verdicts(result: Dataset) -> str:
    """How many layers have which verdict."""
    layers: dict[str, list[str]] = {}
    for name, regime in _column(result, "regime"):
        layers.setdefault(regime, []).append(name)
    said = [f"{regime} in {len(layers[regime])} ({_listed(layers[regime])})" for regime in WORDS if regime in layers]
    count = result.sizes["layer"]
    return f"{count} layer{'s' * (count > 1)}: {', '.join(said)}."


def _profile(result: Dataset) -> str:
    """The kept share of the variance along the depth, in runs of layers; its range where there are many runs."""
    shares = ((name, value) for name, value in _column(result, "kept_weighted") if not np.isnan(value))
    kept = [(name, max(value, 0.0)) for name, value in shares]  # below 0: an unrelated network predicts more
    if not kept:
        return ""
    if len(kept) == 1:
        return f"Of the variance before, {kept[0][1]:.0%} is kept."
    runs = [(words, [name for name, _ in run]) for words, run in groupby(kept, key=lambda pair: _band(pair[1]))]
    if len(runs) > 4:
        least, most = (choose(kept, key=lambda pair: pair[1]) for choose in (min, max))
        return f"Of the variance before, layers keep from {least[1]:.0%} ({least[0]}) to {most[1]:.0%} ({most[0]})."
    said = []
    for words, names in runs:
        several = f"{names[0]} to {names[-1]}" if len(names) > 2 else " and ".join(names)
        said.append(f"{several} {words if len(names) > 1 else words.replace('keep', 'keeps', 1)}")
    return f"Of the variance before, {', '.join(said)}."


def _band(value: float) -> str:
    return next(words for least, words in _BANDS if value >= least)


def _on_task(result: Dataset) -> str:
    """What happened to the task in the last layer, and where it differs."""
    if "task" not in result:
        return ""
    verdict_of = dict(_column(result, "task"))
    last = result.isel(layer=-1)
    name, verdict = last["layer"].item(), last["task"].item()
    if not verdict:
        return ""
    scores = f"{last['task_before'].item():.2f} before and {last['task_after'].item():.2f} after"
    if not np.isnan(last["task_baseline"].item()):
        scores += f", {last['task_baseline'].item():.2f} in the baseline"
    said = f"In {name} {_TASK[verdict]}: a linear probe scores {scores} (chance {last['task_chance'].item():.2f})."
    others = {other: [one for one, its in verdict_of.items() if its == other] for other in (task.ADDED, task.LOST)}
    apart = [f"{other} in {_listed(names)}" for other, names in others.items() if names and other != verdict]
    return f"{said} The task was {' and '.join(apart)}." if apart else said


def _control(result: Dataset) -> str:
    if "control_regime" not in result:
        return ""
    same = int((result["control_regime"] == result["regime"]).sum())
    shared = float(result["control_r2"].mean())
    return (
        f"The control has the same verdict in {same} of {result.sizes['layer']} layers, and predicts the components "
        f"after finetuning with a mean R² of {shared:.2f}."
    )


def _column(result: Dataset, name: str) -> list[tuple[str, Any]]:
    return list(zip(result["layer"].values.tolist(), result[name].values.tolist(), strict=True))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 4 else f"{', '.join(names[:3])}, …"
