"""The effect of finetuning on a layer, decided by intervals, with the reason in words.

Three questions: are the features after finetuning inherited, are the features before kept, and did the strengths of
kept features change? The bounds between the answers are ours, fixed before the data were seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import kurtosis

from carryover.diagnosis import inheritance
from carryover.diagnosis.inheritance import DOMINANT, Components

UNCHANGED, REWEIGHT, SELECT, ADD, REPLACE = "unchanged", "reweight", "select", "add", "replace"
UNDECIDED, NONE, CONSTANT = "undecided", "none", "constant"
CRITERIA = {
    SELECT: (True, False, None),
    REWEIGHT: (True, True, True),
    ADD: (False, True, None),
    REPLACE: (False, False, None),
    UNCHANGED: (True, True, False),
}
"""By regime, whether features are inherited, kept and reweighted; None for either."""
REGIMES = (*CRITERIA, CONSTANT, UNDECIDED, NONE)
"""In the order in which they are listed."""
VARIANCE = {
    "inherited_weighted": "the share after finetuning that was there before",
    "kept_weighted": "the share before finetuning that is kept",
}
"""Shares by variance, in the order of the first answers of `CRITERIA`."""
_MATCHED = 0.2  # correlation of units with themselves from which on weights are related
CLOSE = 0.9  # reference from which on a share beyond unrelated networks is noise
_CURVED = 0.2  # curvature from which on unrelated networks of the same inputs may be predicted well
_FACTOR = 2  # ratio of participation ratios above which `_direction` describes a direction
_TAIL = 0.01  # least variance below the counted components that is worth a warning
_SPARSE = 0.5  # excess kurtosis of the responses from which on they may be of superposed features
_FULL = 0.7  # components per unit, from which on a layer may hold more features than it has units


def decide(row: Mapping[str, Any], p: Any) -> tuple[str, str, float]:
    """(regime, reason, samples needed) of a layer.

    `row` {variable: value} has the quantities of the layer with the ends of their intervals, by the names of
    `diagnosis.MEANING`; `p` are the parameters of `diagnose`. The number of samples is NaN unless there are too few.
    """
    if min(row["units_before"], row["units_after"]) == 1:
        return NONE, "a layer of one unit has one direction, which any network shares up to its sign", np.nan
    largest = max(row["participation_ratio_before"], row["participation_ratio_after"])
    samples = row["groups"]
    if samples < p.enough * largest:
        # With n samples 1/PR is larger by about 1/n than with infinitely many, whose PR gives the number needed.
        needed = float(np.ceil(p.enough * largest / max(1 - largest / samples, 1e-3)))
        few = f"too few samples: {samples} for a PR of {largest:.3g}, less than {p.enough:g} times it"
        return UNDECIDED, few, needed
    if row["components_before"] == 1:
        return NONE, "before finetuning one direction holds all of what varies", np.nan
    # If an unrelated network predicts nearly everything, the share beyond it is noise. R² itself is compared instead
    # if units before and after correspond one to one, which no unrelated network would give.
    same_units = row["matched_units"] > p.most
    reference = max(row["inherited_reference"], row["kept_reference"])
    kind = "r2" if reference > CLOSE and same_units else "share"
    bounds = {f"inherited_{kind}": p.most, f"kept_{kind}": p.most, "reweighting": p.factor}
    answers = [  # None if the interval contains the bound or is NaN
        True if row[f"{name}_low"] > bound else False if row[f"{name}_high"] < bound else None
        for name, bound in bounds.items()
    ]
    # Regimes that no answer contradicts: at least one, for the criteria cover all combinations of answers.
    possible = [
        regime
        for regime, criteria in CRITERIA.items()
        if all(answer in (wanted, None) or wanted is None for answer, wanted in zip(answers, criteria, strict=True))
    ]
    evidence = "; ".join(
        f"{word} {row[name]:.2f} [{row[f'{name}_low']:.2f}, {row[f'{name}_high']:.2f}]"
        for name, word in zip(bounds, ("inherited", "kept", "reweighted by"), strict=True)
        if not np.isnan(row[name])
    )
    if len(possible) > 1:
        return UNDECIDED, f"{evidence}: {' or '.join(possible)}", np.nan
    (regime,) = possible
    # Samples may be too few, or an unrelated network might give the same verdict.
    if regime not in (UNCHANGED, REWEIGHT) and row["self_prediction"] <= p.most:
        doubt = f"with so few samples a layer does not predict even itself (R² {row['self_prediction']:.3g})"
    elif same_units:
        return regime, evidence, np.nan
    elif np.isnan(row["inherited_reference"]) and regime != REPLACE and row["curvature"] > _CURVED:
        doubt = (
            "the layer predicts functions of its inputs so well that it may predict an unrelated network's: give a "
            "recording of one as baseline"
        )
    elif reference > CLOSE and (
        regime != REPLACE or row["cka"] > (1 + row["cka_reference"]) / 2 or row["matched_units"] > _MATCHED
    ):
        doubt = f"an unrelated network predicts nearly all (R² {reference:.3g}), and units differ one by one"
    else:
        return regime, evidence, np.nan
    return UNDECIDED, f"{evidence}: {regime}, but {doubt}", np.nan


def contradicting(row: Mapping[str, Any], most: float) -> list[str]:
    """Shares by variance that say otherwise than the verdict, which counts components."""
    answers = CRITERIA.get(row["regime"], ())
    return [name for name, answer in zip(VARIANCE, answers, strict=False) if answer != (row[name] >= most)]


def warnings_on(
    row: Mapping[str, Any], recorded: Sequence[np.ndarray], parts: Sequence[Components], block: np.ndarray,
    ordered: bool, most: float,
) -> list[str]:  # fmt: skip
    """Sentences on cases in which a practitioner may describe the change differently from the verdict.

    `row` holds quantities and the verdict; `recorded` are responses (samples, units) and `parts` components, before and
    after first; `block` (samples,) is the same for samples that are held out together; `ordered` says whether samples
    are known to have the same order; `most` is the share from which on a layer is inherited, or kept.
    """
    old, new = parts[:2]
    notes = []
    for when in ("before", "after"):
        if row[f"dominant_{when}"] > DOMINANT and row[f"units_{when}"] > 1:
            share = f"{row[f'dominant_{when}']:.3g}"
            notes.append(f"one direction holds {share} of the variance {when} and dominates PR, ENSD and CKA")
            break
    for quantity in contradicting(row, most):
        notes.append(f"by variance {VARIANCE[quantity]} is {max(row[quantity], 0):.0%}")
    if direction := _direction(row, old, new, block):
        notes.append(direction)
    tail = slice(old.counted, old.seen)  # components that do not count
    variances = old.variances[tail]
    if row["regime"] != REPLACE and variances.sum() >= _TAIL:
        errors = inheritance.errors(new.variance_scores, old.scores[:, tail], block).full.mean(axis=0)
        lost = float(np.average(np.minimum(errors, 1), weights=variances))
        if lost >= 0.5 and lost * variances.sum() >= _TAIL:
            weak = f"{len(variances)} weak components that do not count ({variances.sum():.2g} of the variance)"
            notes.append(f"{weak} are mostly lost")
    if row["regime"] in (REPLACE, SELECT) and row["kept_r2"] < most:
        r2 = inheritance.predict_from_all(new, old, block).r2
        if r2 > most:
            notes.append(f"what was there before faded, but weak directions after still predict it (R² {r2:.2f})")
    if row["regime"] in (REPLACE, SELECT, ADD):
        pairs = list(zip(recorded[:2], parts[:2], strict=True))
        sparse = [float(np.median(kurtosis(X, axis=0)[X.std(axis=0) > 0])) > _SPARSE for X, _ in pairs]
        full = [part.counted > _FULL * X.shape[1] for X, part in pairs]
        if any(sparse) and any(full):
            notes.append("responses are sparse and fill the layer: the same features, superposed otherwise, look new")
    if not ordered and row["inherited_r2"] < 0.3 and new.counted > 1:
        scores, sorted_before = new.scores[:, : new.counted], old.variance_scores[np.argsort(old.scores[:, 0])]
        orders = (np.argsort(scores[:, 0]), np.argsort(-scores[:, 0]))  # the sign of a component is not known
        if any(inheritance.errors(sorted_before, scores[order], block).r2 > 0.8 for order in orders):
            notes.append("sorted by their first component samples agree: they may be in another order after")
    return notes


def _direction(row: Mapping[str, Any], old: Components, new: Components, block: np.ndarray) -> str:
    """A sentence on the first component of the layer with the smaller participation ratio; empty if these are alike."""
    before, after = row["participation_ratio_before"], row["participation_ratio_after"]
    if max(before, after) <= _FACTOR * min(before, after):
        return ""
    narrowed = after < before
    narrow, other = (new, old) if narrowed else (old, new)
    first = narrow.scores[:, :1]
    share = float(narrow.variances[0])
    share_other = float(other.variances @ np.square(other.scores.T @ first[:, 0] / len(first)))  # of the same direction
    verb = ("was amplified" if narrowed else "was damped") if share > share_other else "holds most"
    if not inheritance.errors(other.variance_scores, first, block).r2 > 0.5:  # the other layer does not predict it
        verb = "appeared" if narrowed else "disappeared"
    share_before, share_after = (share_other, share) if narrowed else (share, share_other)
    shares = f"{share_before:.2g} of the variance before and {share_after:.2g} after"
    return f"PR changed from {before:.3g} to {after:.3g}: a direction with {shares} {verb}"
