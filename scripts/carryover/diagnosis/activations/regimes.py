"""What finetuning did to a layer, decided by intervals: which verdicts are possible, which is nearest, and in words.

Three questions: is what is there after finetuning inherited, is what was there before kept, and did the strengths of
what was kept change? The numbers that divide the answers are ours, fixed before the data were seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xarray import Dataset

from carryover.diagnosis.activations.components import DOMINANT
from carryover.diagnosis.activations.inheritance import LEAST

UNCHANGED, REWEIGHT, SELECT, ADD, REPLACE = "unchanged", "reweight", "select", "add", "replace"
UNDECIDED, NONE = "undecided", "none"
WORDS = {
    SELECT: "What the layer holds after finetuning was there before, and part of what was there is gone: finetuning "
            "selected some of the pretrained features (nested feature selection, where fewer dimensions are left).",
    REWEIGHT: "The features are those of before, but some became stronger and others weaker.",
    ADD: "The features of before are still there, and others came beside them.",
    REPLACE: "Features of before gave way to others that were not there, wholly or in part: the shares inherited and "
             "kept say how many stayed.",
    UNCHANGED: "Features and their strengths are those of before: finetuning only read them out (lazy). If the task "
               "needs few of them, try multiplying all weights by a factor below 1 before finetuning, chosen by "
               "validation.",
    UNDECIDED: "These samples do not tell, or not without a recording of an unrelated network.",
    NONE: "There is nothing to tell apart: one direction is all that the layer has.",
}  # fmt: skip
"""Meaning of each verdict, in the order in which they are listed."""
_BY_ANSWERS = {  # inherited, kept, reweighted
    (True, True, False): UNCHANGED,
    (True, True, True): REWEIGHT,
    (True, False, False): SELECT,
    (True, False, True): SELECT,
    (False, True, False): ADD,
    (False, True, True): ADD,
    (False, False, False): REPLACE,
    (False, False, True): REPLACE,
}
_CLOSE = 0.9  # reference from which on unrelated networks are told too well for a share beyond them to mean much
_CURVED = 0.2  # curvature from which on unrelated networks of the same inputs may be told well
_SYMBOLS = {
    "inherited_share": "inherited",
    "kept_share": "kept",
    "inherited_r2": "inherited",
    "kept_r2": "kept",
    "reweighting": "reweighted by",
}


@dataclass(frozen=True)
class Verdict:
    """`regime`, one of `WORDS`; `reason`; `nearest`, the bound next to a value and the verdict beyond it; `samples`
    that would move the interval off it, NaN where they are enough or do not help; `warning`, often empty."""

    regime: str
    reason: str
    nearest: str
    samples: float
    warning: str


def _criteria(row: Mapping[str, Any], limits: Mapping[str, float]) -> dict[str, float]:
    """{quantity: bound that divides the answers}.

    Where an unrelated network is told nearly everything, what is beyond it is noise; if then the units are the same one
    by one, R² itself is asked.
    """
    kind = "r2" if _close(row) and _same_units(row, limits) else "share"
    return {f"inherited_{kind}": limits["most"], f"kept_{kind}": limits["most"], "reweighting": limits["factor"]}


def _close(row: Mapping[str, Any]) -> bool:
    return max(row["inherited_reference"], row["kept_reference"]) > _CLOSE


def _same_units(row: Mapping[str, Any], limits: Mapping[str, float]) -> bool:
    return row["matched_units"] > limits["most"]


def in_words(limits: Mapping[str, float]) -> dict[str, str]:
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


def headline(result: Dataset) -> str:
    """'3 layers: select in 2 (conv3, conv4), undecided in 1 (conv5).' of what `diagnose` returned, and its note."""
    layers: dict[str, list[str]] = {}
    names = result["layer"].values.tolist()
    for name, regime in zip(names, result["regime"].values.tolist(), strict=True):
        layers.setdefault(regime, []).append(name)
    said = [f"{regime} in {len(layers[regime])} ({_listed(layers[regime])})" for regime in WORDS if regime in layers]
    note = f" {result.attrs['note']}" if "note" in result.attrs else ""
    return f"{len(names)} layer{'s' * (len(names) > 1)}: {', '.join(said)}.{note}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 4 else f"{', '.join(names[:3])}, …"


def decided(row: Mapping[str, Any], limits: Mapping[str, float], taken: int) -> Verdict:
    """The verdict on one layer, whose quantities and facts `row` has, with shares of `taken` samples at most."""
    warning = _warning(row)
    if min(row["units_before"], row["units_after"]) == 1:
        reason = "a layer of one unit has one direction, which any network shares up to its sign"
        return Verdict(NONE, reason, "", np.nan, warning)
    most = max(row["participation_ratio_before"], row["participation_ratio_after"])
    if not row["samples"] >= limits["enough"] * most or np.isnan(row["inherited_share"]):
        return Verdict(UNDECIDED, _too_few(row, most, limits["enough"]), "", _enough(row, most, limits), warning)
    if row["components_before"] == 1:
        return Verdict(NONE, "before finetuning one direction holds all of what varies", "", np.nan, warning)
    bounds = _criteria(row, limits)
    answers = {name: _above(row[f"{name}_low"], row[f"{name}_high"], bound) for name, bound in bounds.items()}
    possible = {
        regime
        for known, regime in _BY_ANSWERS.items()
        if all(answer in (None, k) for answer, k in zip(answers.values(), known, strict=True))
    }
    nearest, needed = _margin(row, bounds, answers, possible, taken)
    said = "; ".join(f"{_SYMBOLS[name]} {_interval(row, name)}" for name in _told(row, bounds))
    if len(possible) > 1:
        return Verdict(UNDECIDED, f"{said}: {' or '.join(w for w in WORDS if w in possible)}", nearest, needed, warning)
    regime = possible.pop()
    if doubt := _unfit(row, regime, limits) or _unrelated(row, regime, limits):
        return Verdict(UNDECIDED, f"{said}: {regime}, but {doubt}", nearest, np.nan, warning)
    return Verdict(regime, said, nearest, np.nan, warning)


def _too_few(row: Mapping[str, Any], most: float, enough: float) -> str:
    if row["samples"] < LEAST:
        return f"too few samples: {row['samples']}, and shares take {LEAST}"
    return f"too few samples: {row['samples']} for a PR of {most:.3g}, less than {enough:g} times it"


def _enough(row: Mapping[str, Any], most: float, limits: Mapping[str, float]) -> float:
    """Samples that are enough for the PR of very many of them, of which 1/PR is less by 1/samples than of these."""
    whole = most / max(1 - most / row["samples"], 1e-3)
    return float(max(np.ceil(limits["enough"] * whole), LEAST))


def _warning(row: Mapping[str, Any]) -> str:
    for when in ("before", "after"):
        if row[f"dominant_{when}"] > DOMINANT and row[f"units_{when}"] > 1:
            share = f"{row[f'dominant_{when}']:.3g}"
            return f"one direction holds {share} of the variance {when}: PR, ENSD and CKA speak of it alone"
    return ""


def _unfit(row: Mapping[str, Any], regime: str, limits: Mapping[str, float]) -> str:
    """Why samples are too few to say that something is new or gone, if so."""
    if regime in (UNCHANGED, REWEIGHT) or row["told_of_itself"] > limits["most"]:
        return ""
    return f"with so few samples a layer does not tell even itself (R² {row['told_of_itself']:.3g})"


def _unrelated(row: Mapping[str, Any], regime: str, limits: Mapping[str, float]) -> str:
    """Why what was found may be found of unrelated networks as well, if so."""
    if _same_units(row, limits):
        return ""
    if np.isnan(row["inherited_reference"]):
        if regime != REPLACE and row["curvature"] > _CURVED:
            return (
                "the layer tells functions of its inputs so well that it may tell an unrelated network's: give a "
                "recording of one as baseline"
            )
        return ""
    if _close(row) and (regime != REPLACE or row["cka"] > (1 + row["cka_reference"]) / 2):
        reference = max(row["inherited_reference"], row["kept_reference"])
        return f"an unrelated network tells nearly all (R² {reference:.3g}), and the units are not the same one by one"
    return ""


def _told(row: Mapping[str, Any], bounds: Mapping[str, float]) -> list[str]:
    return [name for name in bounds if not np.isnan(row[name])]


def _margin(
    row: Mapping[str, Any],
    bounds: Mapping[str, float],
    answers: Mapping[str, bool | None],
    possible: set[str],
    taken: int,
) -> tuple[str, float]:
    """(the bound next to a value, and what is said beyond it; samples that would decide, NaN if none are wanted)."""
    place, best, needed = tuple(row[name] > bound for name, bound in bounds.items()), "", np.nan
    closest = np.inf
    here = _BY_ANSWERS[place]
    for index, (name, bound) in enumerate(bounds.items()):
        other = _BY_ANSWERS[(*place[:index], not place[index], *place[index + 1 :])]
        if other == here or np.isnan(row[name]):
            continue
        reach = max(row[f"{name}_high"] - row[name], row[name] - row[f"{name}_low"], np.finfo(float).tiny)
        distance = abs(row[name] - bound) / reach
        if distance < closest:
            closest, best = distance, f"nearest: {other}, {_SYMBOLS[name]} {row[name]:.3g} against {bound:g}"
        if answers[name] is None and len(possible) > 1:
            more = min(row["samples"], taken) * max(1.0, 1 / max(distance, 1e-9) ** 2)
            needed = np.fmax(needed, np.ceil(more))
    return best, float(needed) if needed <= taken else np.nan


def _interval(row: Mapping[str, Any], name: str) -> str:
    low, high = (row[f"{name}_{end}"] for end in ("low", "high"))
    return f"{row[name]:.2f} [{low:.2f}, {high:.2f}]"


def _above(low: float, high: float, bound: float) -> bool | None:
    """Whether an interval lies above a bound: None where it lies across it or is NaN."""
    return True if low > bound else False if high < bound else None
