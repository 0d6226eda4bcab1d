"""Everything that is said of one layer, from its responses before and after finetuning and of an unrelated network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from carryover.diagnosis import inheritance, task
from carryover.diagnosis.cautions import cautions
from carryover.diagnosis.inheritance import Components, components, jackknife, most_samples
from carryover.diagnosis.regimes import CLOSE, decided
from carryover.measures.dimensionality import compare_responses

TEXTS = {
    "regime": "what finetuning did to the features of the layer",
    "task": "what happened to the linear readability of the task",
    "control_regime": "the verdict on the control",
    "reason": "why, with what decides it",
    "warning": "what to keep in mind",
}
PAPERS = {
    "participation_ratio_before": "participation ratio (PR) before finetuning",
    "participation_ratio_after": "participation ratio (PR) after finetuning",
    "ensd": "effective number of dimensions shared before and after finetuning (ENSD)",
    "cka": "linear centred kernel alignment of before and after finetuning (CKA)",
    "change": "PR after over PR before finetuning",
    "inherited": "ENSD over PR after finetuning",
}
"""Quantities of the paper, which weigh directions by their variance."""
SCALE_FREE = {
    "inherited_share": "share of the components after finetuning that the layer before tells, beyond the reference",
    "kept_share": "share of the components before finetuning that the layer after tells, beyond the reference",
    "inherited_r2": "held-out R² of the components after finetuning, by ridge regression on the layer before",
    "kept_r2": "held-out R² of the components before finetuning, by ridge regression on those that count after",
    "inherited_weighted": "inherited share with components weighted by their variance after finetuning",
    "kept_weighted": "kept share with components weighted by their variance before finetuning",
    "reweighting": "typical factor between the changes of variances of directions that survived; NaN where few did",
}
WITH_INTERVALS = SCALE_FREE | task.MEANING
"""Quantities with intervals: each counted component weighs the same, or by its variance; and probes of the task."""
FACTS = {
    "samples": "samples of which there are responses",
    "groups": "different samples, by their names; as many as samples without any",
    "units_before": "units of the layer before finetuning",
    "units_after": "units of the layer after finetuning",
    "components_before": "components that count before finetuning",
    "components_after": "components that count after finetuning",
    "dominant_before": "share of the variance before finetuning that the first direction holds",
    "dominant_after": "share of the variance after finetuning that the first direction holds",
    "inherited_reference": "held-out R² of the components after finetuning, told by the baseline; NaN without one",
    "kept_reference": "held-out R² of the components before finetuning, told by the baseline; NaN without one",
    "cka_reference": "CKA of the baseline and after finetuning; without one its mean over permutations of samples",
    "ensd_reference": "ENSD of the baseline and after finetuning; without one its mean over permutations of samples",
    "curvature": "held-out R² of products of the leading components before finetuning, less what is linear in them",
    "told_of_itself": "held-out R² of a layer's components, told by the same layer, of before or after the smaller",
    "matched_units": "mean correlation of a unit before with itself after finetuning, beyond that with other units",
    "samples_needed": "samples that can be expected to decide; NaN where it is decided, or none is known that would",
    "task_chance": "score of a probe without any input: frequency of the most common class, or 0",
    "control_r2": "held-out R² of the components after finetuning, by ridge regression on the control",
    "weight_change": "norm of the change of the layer's parameters over their norm before; NaN without parameters",
    "weight_rank": "participation ratio of the squared singular values of the weight matrix that changed most",
}
ENDS = {"": "", "_low": "lower end of the interval of: ", "_high": "upper end of the interval of: "}
MEANING = (
    TEXTS
    | PAPERS
    | {f"{name}{end}": f"{of}{meaning}" for name, meaning in WITH_INTERVALS.items() for end, of in ENDS.items()}
    | FACTS
)
"""Every variable of a diagnosis, in order."""


def attributes(name: str) -> dict[str, str]:
    """Meaning and units of a variable."""
    return {"long_name": MEANING[name], "units": "1"}


def of_layer(
    layers: Sequence[np.ndarray],
    block: np.ndarray,
    ordered: bool,
    groups: int,
    p: Any,
    labels: task.Task | None = None,
    control: np.ndarray | None = None,
) -> dict[str, Any]:
    """What is said of a layer, by the names of MEANING.

    Parameters
    ----------
    layers : centred responses (samples, units) before, after and, maybe, of the baseline
    block : (samples,), the same for samples that are left out together
    ordered : whether the order of samples is known to be the same
    groups : how many samples are different ones
    p : parameters of `diagnose`
    control : centred responses (samples, units) after another finetuning
    """
    units = [X.shape[1] for X in layers]
    row: dict[str, Any] = dict.fromkeys((f"{name}{end}" for name in SCALE_FREE for end in ENDS), np.nan)
    row |= dict.fromkeys(("inherited_reference", "kept_reference", "curvature", "told_of_itself"), np.nan)
    row |= {"samples": len(block), "groups": groups, "units_before": units[0], "units_after": units[1]}
    after, before, ensd, cka = compare_responses(*layers[:2])
    row |= dict(zip(PAPERS, (before, after, ensd, cka, after / before, ensd / after), strict=True))
    rows = inheritance.chosen_samples(len(block), units)
    recorded, some = [X[rows] for X in layers], block[rows]
    old = components(recorded[0], p.variance)
    parts = [old, *(components(X, p.variance, old) for X in recorded[1:])]
    row |= _facts(row, recorded, parts)
    if enough := len(rows) >= inheritance.LEAST:
        row |= _scale_free(parts, some, p.confidence)
    row |= decided(row, p.model_dump(), most_samples(units))
    row["warning"] = "; ".join(cautions(row, recorded, parts, some, ordered, p.most)) if enough else ""
    if labels is not None and enough:
        row |= task.probed(labels, parts, rows, some, p.confidence)
    if control is not None and enough:
        row["control_r2"] = inheritance.inherited(components(control[rows], p.variance, old), parts[1], some).r2
        row["control_regime"] = of_layer([layers[0], control, *layers[2:]], block, ordered, groups, p)["regime"]
    return row


def _facts(row: dict[str, Any], recorded: list[np.ndarray], parts: list[Components]) -> dict[str, Any]:
    old, new = parts[:2]
    if len(parts) > 2:
        cka = inheritance.alignment(parts[2], new)
        ensd = cka * np.sqrt(row["participation_ratio_after"] / (parts[2].variances ** 2).sum())
    else:  # a permutation P of samples: E tr(K P L Pᵀ) = tr K tr L / (samples − 1) for centred K and L
        sizes = row["participation_ratio_before"] * row["participation_ratio_after"]
        cka, ensd = np.sqrt(sizes) / (row["samples"] - 1), sizes / (row["samples"] - 1)
    return {
        "components_before": old.counted,
        "components_after": new.counted,
        "dominant_before": old.dominant,
        "dominant_after": new.dominant,
        "cka_reference": min(float(cka), 1.0),
        "ensd_reference": float(ensd),
        "matched_units": inheritance.matched_units(*recorded[:2]),
    }


def _scale_free(parts: list[Components], block: np.ndarray, confidence: float) -> dict[str, Any]:
    """Quantities of `SCALE_FREE` with intervals, and the facts that they are made of."""
    old, new, *unrelated = parts
    found: dict[str, Any] = {}
    for name, source, targets, measure in (
        ("inherited", old, new, inheritance.inherited),
        ("kept", new, old, inheritance.kept),
    ):
        mine = measure(source, targets, block)
        reference = measure(unrelated[0], targets, block) if unrelated else None
        found[f"{name}_reference"] = np.nan if reference is None else reference.r2
        far = None if reference is None or reference.r2 > CLOSE else reference  # else what is beyond it is noise
        weights = targets.variances[: targets.counted]
        for kind, beyond, by in (("r2", None, None), ("share", reference, None), ("weighted", far, weights)):
            values, half = inheritance.shares(mine, beyond, block, by)
            low, high = jackknife(values, confidence)
            further = values[0] - half  # twice the samples would add at most what they added to a half of them
            low, high = min(low, values[0]) + min(further, 0), max(high, values[0]) + max(further, 0)
            ends = zip(ENDS, np.clip([values[0], low, high], -1, 1), strict=True)
            found |= {f"{name}_{kind}{end}": float(value) for end, value in ends}
    if min(found["inherited_r2"], found["kept_r2"]) > 0.5:  # else there is little of which to compare the strengths
        changes = inheritance.reweighting(old, new, found["kept_r2"], block)
        low, high = jackknife(changes, confidence)
        found["reweighting"] = value = float(changes[0])
        found |= {"reweighting_low": max(min(low, value), 1.0), "reweighting_high": max(high, value)}
    found["curvature"] = inheritance.curvature(old, block)
    found["told_of_itself"] = min(inheritance.self_predicted(one, block) for one in (old, new))
    return found
