"""Everything that is said of one layer, from its responses before and after finetuning and of an unrelated network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from scipy import stats

from carryover.diagnosis.activations import inheritance
from carryover.diagnosis.activations.components import Components, chosen, components, most_samples
from carryover.diagnosis.activations.overlaps import Overlaps, overlaps
from carryover.diagnosis.activations.regimes import decided

PAPERS = {
    "participation_ratio_before": "participation ratio (PR) before finetuning",
    "participation_ratio_after": "participation ratio (PR) after finetuning",
    "ensd": "effective number of dimensions shared before and after finetuning (ENSD)",
    "cka": "linear centred kernel alignment of before and after finetuning (CKA)",
    "change": "PR after over PR before finetuning",
    "inherited": "ENSD over PR after finetuning",
}
"""Quantities with intervals that weigh directions by their variance."""
SCALE_FREE = {
    "inherited_share": "share of the components after finetuning that the layer before tells, beyond the reference",
    "kept_share": "share of the components before finetuning that the layer after tells, beyond the reference",
    "inherited_r2": "held-out R² of the components after finetuning, by ridge regression on the layer before",
    "kept_r2": "held-out R² of the components before finetuning, by ridge regression on those that count after",
    "reweighting": "typical factor between the changes of variances of directions that survived; NaN where few did",
}
"""Quantities with intervals in which each counted component weighs the same."""
MEANING = PAPERS | SCALE_FREE
FACTS = {
    "samples": "samples of which there are responses",
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
}
VERDICT = {
    "regime": "what finetuning did to the features of the layer",
    "reason": "why, with what decides it",
    "nearest": "the bound next to a value, and the verdict beyond it",
    "samples_needed": "samples that can be expected to decide; NaN where it is decided, or none is known that would",
    "warning": "what to keep in mind",
}


def of_layer(layers: Sequence[np.ndarray], block: np.ndarray, named: bool, p: Any) -> dict[str, Any]:
    """What is said of a layer, by the names of MEANING with their `_low` and `_high`, FACTS and VERDICT.

    layers: centred responses (samples, units) before, after and, maybe, of the baseline; block: (samples,); named:
    whether the order of samples is known to be the same; p: parameters of `diagnose`.
    """
    before, after = layers[:2]
    row: dict[str, Any] = {"samples": len(block), "units_before": before.shape[1], "units_after": after.shape[1]}
    for key, values in _papers(overlaps(before, after, block)).items():
        row[key] = values[0]
        row[f"{key}_low"], row[f"{key}_high"] = jackknife(values, p.confidence)
    units = [X.shape[1] for X in layers]
    rows = chosen(len(block), units)
    block = block[rows]
    recorded = [X[rows] for X in layers]
    old = components(recorded[0], p.variance)
    parts = [old, *(components(X, p.variance, old) for X in recorded[1:])]
    row |= _facts(row, recorded, parts)
    if len(rows) >= inheritance.LEAST:
        row |= _scale_free(parts, block, p.confidence)
        if not named and row["inherited_r2"] < 0.3 and _shuffled(parts[0], parts[1], block):
            row["warning"] = "sorted by their first component samples agree: they may be in another order after"
    else:
        unknown = [f"{name}{end}" for name in SCALE_FREE for end in ("", "_low", "_high")]
        row |= dict.fromkeys([*unknown, *(name for name in FACTS if name not in row)], np.nan)
    said = asdict(decided(row, p.model_dump(), most_samples(units)))
    return (
        row | {"samples_needed": said.pop("samples")} | said | ({"warning": row["warning"]} if "warning" in row else {})
    )


def _papers(o: Overlaps) -> dict[str, np.ndarray]:
    """(1 + blocks,) of each quantity of `PAPERS`."""
    with np.errstate(invalid="ignore", divide="ignore"):  # of blocks without which nothing varies
        before, after = o.x**2 / o.xx, o.y**2 / o.yy
        ensd = o.xy * o.x * o.y / (o.xx * o.yy)
        cka = o.xy / np.sqrt(o.xx * o.yy)
        values = (before, after, ensd, cka, after / before, ensd / after)
    return dict(zip(PAPERS, values, strict=True))


def _facts(row: Mapping[str, Any], recorded: list[np.ndarray], parts: list[Components]) -> dict[str, Any]:
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
    """Quantities of `SCALE_FREE` with intervals, and what they were made of."""
    old, new, *unrelated = parts
    found: dict[str, Any] = {}
    for name, source, targets, ask in (
        ("inherited", old, new, inheritance.inherited),
        ("kept", new, old, inheritance.kept),
    ):
        told = ask(source, targets, block)
        reference = ask(unrelated[0], targets, block) if unrelated else None
        found[f"{name}_reference"] = np.nan if reference is None else reference.r2
        for kind, beyond in (("r2", None), ("share", reference)):
            values, half = inheritance.shares(told, beyond, block)
            low, high = jackknife(values, confidence)
            further = values[0] - half  # what twice the samples would add at the most: half of these did so
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


def _shuffled(old: Components, new: Components, block: np.ndarray) -> bool:
    """Whether samples agree once both sides are sorted by their first component, whose sign is not known."""
    scores = new.scores[:, : new.counted]
    first = old.weighted[np.argsort(old.scores[:, 0])]
    orders = (np.argsort(scores[:, 0]), np.argsort(-scores[:, 0]))
    return new.counted > 1 and any(inheritance.told(first, scores[order], block).r2 > 0.8 for order in orders)


def jackknife(values: np.ndarray, confidence: float) -> tuple[float, float]:
    """Interval of a quantity from its value with all samples and those without each of b blocks, (1 + b,).

    θ − (b−1)(m − θ) ± t √((b−1)/b Σ (θ_i − m)²) with θ of all, θ_i of those without block i, their mean m, and
    Student's quantile t of b − 1 degrees of freedom; B. Efron and R. Tibshirani, "An introduction to the bootstrap",
    chapter 11.
    NaN where a value is NaN.
    """
    whole, without = values[0], values[1:]
    blocks, mean = len(without), without.mean()
    error = np.sqrt((blocks - 1) / blocks * ((without - mean) ** 2).sum())
    middle, half = whole - (blocks - 1) * (mean - whole), stats.t.ppf((1 + confidence) / 2, blocks - 1) * error
    return float(middle - half), float(middle + half)
