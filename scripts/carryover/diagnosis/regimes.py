"""What finetuning did to a layer, decided by intervals, with the reason in words.

Three questions: is what is there after finetuning inherited, is what was there before kept, and did the strengths of
what was kept change? The bounds between the answers are ours, fixed before the data were seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from carryover.diagnosis.inheritance import LEAST

UNCHANGED, REWEIGHT, SELECT, ADD, REPLACE = "unchanged", "reweight", "select", "add", "replace"
UNDECIDED, NONE = "undecided", "none"
WORDS = {
    SELECT: "What the layer holds after finetuning was there before, and part of what was there is gone: finetuning "
            "selected some of the pretrained features (nested feature selection, where fewer dimensions are left).",
    REWEIGHT: "The features are those of before, but some became stronger and others weaker.",
    ADD: "The features of before are still there, and others came beside them.",
    REPLACE: "Features of before gave way to others that were not there, wholly or in part: the shares inherited and "
             "kept say how many stayed.",
    UNCHANGED: "Nearly all features and their strengths are those of before (lazy). If the task needs few of them, try "
               "multiplying all weights by a factor below 1 before finetuning, chosen by validation.",
    UNDECIDED: "These samples do not tell, or not without a recording of an unrelated network.",
    NONE: "There is nothing to tell apart: one direction is all that the layer has.",
}  # fmt: skip
"""Meaning of each verdict, in the order in which they are listed."""
_BY_ANSWERS = {  # inherited, kept, reweighted
    (True, True, False): UNCHANGED,
    (True, True, True): REWEIGHT,
    **{(True, False, reweighted): SELECT for reweighted in (False, True)},
    **{(False, True, reweighted): ADD for reweighted in (False, True)},
    **{(False, False, reweighted): REPLACE for reweighted in (False, True)},
}
CLOSE = 0.9  # reference from which on a share beyond unrelated networks is noise
_CURVED = 0.2  # curvature from which on unrelated networks of the same inputs may be predicted well


def criteria(limits: Mapping[str, float]) -> dict[str, str]:
    """{verdict: its criteria}."""
    most, factor = f"{limits['most']:g}", f"{limits['factor']:g}"
    inherited, lost = f"inherited > {most}", f"kept < {most}"
    return {
        UNCHANGED: f"{inherited}, kept > {most}, reweighted by < {factor}",
        REWEIGHT: f"{inherited}, kept > {most}, reweighted by > {factor}",
        SELECT: f"{inherited}, {lost}",
        ADD: f"inherited < {most}, kept > {most}",
        REPLACE: f"inherited < {most}, {lost}",
    }


def decided(row: Mapping[str, Any], limits: Mapping[str, float], taken: int) -> dict[str, Any]:
    """`regime`, `reason` and `samples_needed` of a layer.

    Parameters
    ----------
    row : its quantities and facts
    limits : parameters of `diagnose`
    taken : most samples that shares are computed from
    """
    if min(row["units_before"], row["units_after"]) == 1:
        return _verdict(NONE, "a layer of one unit has one direction, which any network shares up to its sign")
    if too_few := _too_few(row, limits["enough"]):
        return too_few
    if row["components_before"] == 1:
        return _verdict(NONE, "before finetuning one direction holds all of what varies")
    # Where an unrelated network predicts nearly everything, what is beyond it is noise; if then the units are the same
    # one by one, R² itself is compared.
    same_units = row["matched_units"] > limits["most"]
    close = max(row["inherited_reference"], row["kept_reference"]) > CLOSE
    kind = "r2" if close and same_units else "share"
    bounds = {f"inherited_{kind}": limits["most"], f"kept_{kind}": limits["most"], "reweighting": limits["factor"]}
    answers: list[bool | None] = []  # None where the interval lies across the bound, or is NaN
    for name, bound in bounds.items():
        low, high = row[f"{name}_low"], row[f"{name}_high"]
        answers.append(True if low > bound else False if high < bound else None)
    possible = {
        regime
        for known, regime in _BY_ANSWERS.items()
        if all(answer in (None, k) for answer, k in zip(answers, known, strict=True))
    }
    said = "; ".join(
        f"{word} {row[name]:.2f} [{row[f'{name}_low']:.2f}, {row[f'{name}_high']:.2f}]"
        for name, word in zip(bounds, ("inherited", "kept", "reweighted by"), strict=True)
        if not np.isnan(row[name])
    )
    if len(possible) > 1:
        reason = f"{said}: {' or '.join(word for word in WORDS if word in possible)}"
        return _verdict(UNDECIDED, reason, _needed(row, bounds, answers, taken))
    regime = possible.pop()
    if doubt := _doubt(row, regime, limits["most"], same_units, close):
        return _verdict(UNDECIDED, f"{said}: {regime}, but {doubt}")
    return _verdict(regime, said)


def _verdict(regime: str, reason: str, needed: float = np.nan) -> dict[str, Any]:
    return {"regime": regime, "reason": reason, "samples_needed": needed}


def _too_few(row: Mapping[str, Any], enough: float) -> dict[str, Any] | None:
    largest = max(row["participation_ratio_before"], row["participation_ratio_after"])
    samples = row["groups"]
    if samples >= enough * largest and not np.isnan(row["inherited_share"]):
        return None
    # Of very many samples 1/PR is less by 1/samples than of these.
    whole = largest / max(1 - largest / samples, 1e-3)
    needed = float(max(np.ceil(enough * whole), LEAST))
    if samples < LEAST:
        return _verdict(UNDECIDED, f"too few samples: {samples}, and shares take {LEAST}", needed)
    reason = f"too few samples: {samples} for a PR of {largest:.3g}, less than {enough:g} times it"
    return _verdict(UNDECIDED, reason, needed)


def _doubt(row: Mapping[str, Any], regime: str, most: float, same_units: bool, close: bool) -> str:
    """Why samples are too few, or what was found may be found of unrelated networks as well, if so."""
    if regime not in (UNCHANGED, REWEIGHT) and row["told_of_itself"] <= most:
        return f"with so few samples a layer does not tell even itself (R² {row['told_of_itself']:.3g})"
    if same_units:
        return ""
    if np.isnan(row["inherited_reference"]) and regime != REPLACE and row["curvature"] > _CURVED:
        return (
            "the layer tells functions of its inputs so well that it may tell an unrelated network's: give a "
            "recording of one as baseline"
        )
    if close and (regime != REPLACE or row["cka"] > (1 + row["cka_reference"]) / 2):
        reference = max(row["inherited_reference"], row["kept_reference"])
        return f"an unrelated network tells nearly all (R² {reference:.3g}), and the units are not the same one by one"
    return ""


def _needed(row: Mapping[str, Any], bounds: Mapping[str, float], answers: list[bool | None], taken: int) -> float:
    """Samples that would move the intervals off the bounds that they cross; NaN where there are not so many."""
    place, needed = tuple(row[name] > bound for name, bound in bounds.items()), np.nan
    for index, (name, bound) in enumerate(bounds.items()):
        other = _BY_ANSWERS[(*place[:index], not place[index], *place[index + 1 :])]
        if other == _BY_ANSWERS[place] or np.isnan(row[name]) or answers[index] is not None:
            continue
        reach = max(row[f"{name}_high"] - row[name], row[name] - row[f"{name}_low"], np.finfo(float).tiny)
        distance = max(abs(row[name] - bound) / reach, 1e-9)
        needed = np.fmax(needed, np.ceil(min(row["samples"], taken) * max(1.0, 1 / distance**2)))
    return float(needed) if needed <= taken else np.nan
