"""Warnings where a practitioner's word for what happened may differ from the definitions of the verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import kurtosis

from carryover.diagnosis import inheritance
from carryover.diagnosis.inheritance import DOMINANT, Components
from carryover.diagnosis.regimes import ADD, REPLACE, SELECT

_FACTOR = 2  # between participation ratios, from which on a direction is named
_TAIL = 0.01  # least variance below the counted components that is worth a warning
_SPARSE = 0.5  # excess kurtosis of the responses from which on they may be of superposed features
_FULL = 0.7  # components per unit, from which on a layer may hold more features than it has units


def cautions(
    row: Mapping[str, Any], recorded: Sequence[np.ndarray], parts: Sequence[Components], block: np.ndarray,
    ordered: bool, most: float,
) -> list[str]:  # fmt: skip
    """Sentences on one layer.

    Parameters
    ----------
    row : quantities, facts and the verdict
    recorded, parts : responses (samples, units) and components, before and after first
    block : (samples,), the same for samples that are left out together
    ordered : whether the order of samples is known to be the same
    most : share from which on components count as inherited, or kept
    """
    old, new = parts[:2]
    found = [_direction(row, old, new, block)]
    for when in ("before", "after"):
        if row[f"dominant_{when}"] > DOMINANT and row[f"units_{when}"] > 1:
            share = f"{row[f'dominant_{when}']:.3g}"
            found.insert(0, f"one direction holds {share} of the variance {when}: PR, ENSD and CKA speak of it alone")
            break
    if row["regime"] != REPLACE:
        found.append(_below_the_line(old, new, block))
    if row["regime"] in (REPLACE, SELECT) and row["kept_r2"] < most:
        weak = inheritance.inherited(new, old, block).r2
        if weak > most:
            found.append(f"what was there before faded, but weak directions after still predict it (R² {weak:.2f})")
    if row["regime"] in (REPLACE, SELECT, ADD) and _superposed(recorded, parts):
        found.append("responses are sparse and fill the layer: the same features, superposed in another way, look new")
    if not ordered and row["inherited_r2"] < 0.3 and _shuffled(old, new, block):
        found.append("sorted by their first component samples agree: they may be in another order after")
    return [sentence for sentence in found if sentence]


def _direction(row: Mapping[str, Any], old: Components, new: Components, block: np.ndarray) -> str:
    """The first direction of the side with the smaller participation ratio, where these differ by a factor."""
    before, after = row["participation_ratio_before"], row["participation_ratio_after"]
    if max(before, after) <= _FACTOR * min(before, after):
        return ""
    narrow, other = (new, old) if after < before else (old, new)
    first = narrow.scores[:, :1]
    here = float(narrow.variances[0])
    there = float(other.variances @ np.square(other.scores.T @ first[:, 0] / len(first)))
    known = inheritance.errors(other.weighted, first, block).r2 > 0.5
    amplified, appeared, ends = ("was amplified", "appeared", (there, here)) if after < before else (
        "was damped", "disappeared", (here, there))  # fmt: skip
    verb = appeared if not known else amplified if here > there else "holds most"
    shares = f"{ends[0]:.2g} of the variance before and {ends[1]:.2g} after"
    return f"PR changed from {before:.3g} to {after:.3g}: a direction with {shares} {verb}"


def _below_the_line(old: Components, new: Components, block: np.ndarray) -> str:
    """Components before that do not count, where the layer after no longer has them."""
    tail = slice(old.counted, old.seen)
    variances = old.variances[tail]
    if variances.sum() < _TAIL:
        return ""
    wrong = inheritance.errors(new.weighted, old.scores[:, tail], block).full.mean(axis=0)
    lost = float(np.average(np.minimum(wrong, 1), weights=variances))
    if lost < 0.5 or lost * variances.sum() < _TAIL:
        return ""
    return f"{len(variances)} weak components that do not count ({variances.sum():.2g} of the variance) are mostly lost"


def _superposed(recorded: Sequence[np.ndarray], parts: Sequence[Components]) -> bool:
    sparse = [float(np.median(kurtosis(X, axis=0)[X.std(axis=0) > 0])) > _SPARSE for X in recorded[:2]]
    full = [part.counted > _FULL * X.shape[1] for X, part in zip(recorded[:2], parts[:2], strict=True)]
    return any(sparse) and any(full)


def _shuffled(old: Components, new: Components, block: np.ndarray) -> bool:
    """Whether samples agree once both sides are sorted by their first component, whose sign is not known."""
    scores = new.scores[:, : new.counted]
    first = old.weighted[np.argsort(old.scores[:, 0])]
    orders = (np.argsort(scores[:, 0]), np.argsort(-scores[:, 0]))
    return new.counted > 1 and any(inheritance.errors(first, scores[order], block).r2 > 0.8 for order in orders)
