"""Everything that is said of one layer, from its responses before and after finetuning and of an unrelated network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from carryover.diagnosis.activations import inheritance, task
from carryover.diagnosis.activations.cautions import cautions
from carryover.diagnosis.activations.components import Components, chosen, components, most_samples
from carryover.diagnosis.activations.inheritance import jackknife
from carryover.diagnosis.activations.regimes import CLOSE, decided
from carryover.measures.dimensionality import compare_responses

WEIGHTS = {
    "weight_change": "norm of the change of the layer's parameters over their norm before; NaN without parameters",
    "weight_rank": "participation ratio of the squared singular values of the weight matrix that changed most",
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
"""Quantities with intervals: each counted component weighs the same, or by its variance."""
MEANING = SCALE_FREE | task.MEANING
"""All quantities with intervals."""
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
    "task_chance": "score of a probe without any input: frequency of the most common class, or 0",
    "control_r2": "held-out R² of the components after finetuning, by ridge regression on the control",
}
VERDICT = {
    "regime": "what finetuning did to the features of the layer",
    "task": "what happened to the linear readability of the task",
    "control_regime": "the verdict on the control",
    "reason": "why, with what decides it",
    "samples_needed": "samples that can be expected to decide; NaN where it is decided, or none is known that would",
    "warning": "what to keep in mind",
}


def of_layer(
    layers: Sequence[np.ndarray],
    block: np.ndarray,
    ordered: bool,
    groups: int,
    p: Any,
    labels: task.Task | None = None,
    control: np.ndarray | None = None,
) -> dict[str, Any]:
    """What is said of a layer, by the names of PAPERS, MEANING with their `_low` and `_high`, FACTS and VERDICT.

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
    row: dict[str, Any] = {"samples": len(block), "groups": groups, "units_before": units[0], "units_after": units[1]}
    after, before, ensd, cka = compare_responses(*layers[:2])
    row |= dict(zip(PAPERS, (before, after, ensd, cka, after / before, ensd / after), strict=True))
    rows = chosen(len(block), units)
    everyone, block = block, block[rows]
    recorded = [X[rows] for X in layers]
    old = components(recorded[0], p.variance)
    parts = [old, *(components(X, p.variance, old) for X in recorded[1:])]
    row |= _facts(row, recorded, parts)
    if enough := len(rows) >= inheritance.LEAST:
        row |= _scale_free(parts, block, p.confidence)
    else:
        row |= dict.fromkeys([f"{name}{end}" for name in SCALE_FREE for end in ("", "_low", "_high")], np.nan)
        row |= {name: np.nan for name in FACTS if name not in row}
    row |= decided(row, p.model_dump(), most_samples(units))
    row["warning"] = "; ".join(cautions(row, recorded, parts, block, ordered, p.most)) if enough else ""
    if labels is not None and enough:
        row |= task.probed(labels, parts, rows, block, p.confidence)
    if control is not None and enough:
        other = components(control[rows], p.variance, old)
        row["control_r2"] = inheritance.inherited(other, parts[1], block).r2
        row["control_regime"] = of_layer([layers[0], control, *layers[2:]], everyone, ordered, groups, p)["regime"]
    return row


def _facts(row: dict[str, Any], recorded: list[np.ndarray], parts: list[Components]) -> dict[str, Any]:
    old, new = parts[:2]
    sizes = row["participation_ratio_before"] * row["participation_ratio_after"]
    if len(parts) > 2:
        other = inheritance.alignment(parts[2], new)
        ensd = other * np.sqrt(row["participation_ratio_after"] / (parts[2].variances ** 2).sum())
    else:  # a permutation P of samples: E tr(K P L Pᵀ) = tr K tr L / (samples − 1) for centred K and L
        other, ensd = np.sqrt(sizes) / (row["samples"] - 1), sizes / (row["samples"] - 1)
    return {
        "components_before": old.counted,
        "components_after": new.counted,
        "dominant_before": old.dominant,
        "dominant_after": new.dominant,
        "cka_reference": min(float(other), 1.0),
        "ensd_reference": float(ensd),
        "matched_units": inheritance.matched(*recorded[:2]),
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
        variances = targets.variances[: targets.counted]
        far = None if reference is None or reference.r2 > CLOSE else reference  # else what is beyond it is noise
        for kind, beyond, weights in (
            ("r2", None, None), ("share", reference, None), ("weighted", far, variances),
        ):  # fmt: skip
            values, half = inheritance.shares(mine, beyond, block, weights)
            low, high = jackknife(values, confidence)
            further = values[0] - half  # twice the samples would add at most what they added to a half of them
            low, high = min(low, values[0]) + min(further, 0), max(high, values[0]) + max(further, 0)
            ends = {"": float(values[0]), "_low": low, "_high": high}
            found |= {f"{name}_{kind}{end}": float(np.clip(value, -1, 1)) for end, value in ends.items()}
    found |= dict.fromkeys(["reweighting", "reweighting_low", "reweighting_high"], np.nan)
    if min(found["inherited_r2"], found["kept_r2"]) > 0.5:  # else there is little of which to compare the strengths
        changes = inheritance.reweighting(old, new, found["kept_r2"], block)
        low, high = jackknife(changes, confidence)
        found["reweighting"] = value = float(changes[0])
        found |= {"reweighting_low": max(min(low, value), 1.0), "reweighting_high": max(high, value)}
    found["curvature"] = inheritance.curvature(old, block)
    found["told_of_itself"] = min(inheritance.told_of_itself(one, block) for one in (old, new))
    return found
