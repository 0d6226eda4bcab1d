"""Quantities of one layer, from its responses before and after finetuning and of an unrelated network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from carryover.diagnosis import inheritance, task
from carryover.diagnosis.inheritance import Components, components, with_ends
from carryover.diagnosis.regimes import CLOSE, decided, warnings_on
from carryover.measures.dimensionality import compare_responses
from carryover.statistics import jackknife

TEXTS = {
    "regime": "what finetuning did to the features of the layer",
    "task": "what happened to the linear readability of the task",
    "control_regime": "the verdict on the control",
    "reason": "quantities and intervals behind the verdict",
    "warning": "where the verdict may mislead",
}
BY_VARIANCE = {
    "participation_ratio_before": "participation ratio (PR) before finetuning",
    "participation_ratio_after": "participation ratio (PR) after finetuning",
    "ensd": "effective number of dimensions shared before and after finetuning (ENSD)",
    "cka": "linear centred kernel alignment of before and after finetuning (CKA)",
    "change": "PR after over PR before finetuning",
    "inherited": "ENSD over PR after finetuning",
}
"""Quantities of the paper, which weigh directions by their variance."""
BY_REGRESSION = {
    "inherited_share": "share of the components after finetuning predicted from the layer before, beyond the reference",
    "kept_share": "share of the components before finetuning predicted from the layer after, beyond the reference",
    "inherited_r2": "held-out R² of the components after finetuning, by ridge regression on the layer before",
    "kept_r2": "held-out R² of the components before finetuning, by ridge regression on those that count after",
    "inherited_weighted": "inherited share with components weighted by their variance after finetuning",
    "kept_weighted": "kept share with components weighted by their variance before finetuning",
    "reweighting": "typical factor between the changes of variances of directions that survived; NaN where few did",
}
WITH_INTERVALS = BY_REGRESSION | task.MEANING
FACTS = {
    "samples": "samples of which there are responses",
    "groups": "different samples, by their names; as many as samples without any",
    "units_before": "units of the layer before finetuning",
    "units_after": "units of the layer after finetuning",
    "components_before": "components that count before finetuning",
    "components_after": "components that count after finetuning",
    "dominant_before": "share of the variance before finetuning in the first principal component",
    "dominant_after": "share of the variance after finetuning in the first principal component",
    "inherited_reference": "held-out R² of the components after finetuning, by the baseline; NaN without one",
    "kept_reference": "held-out R² of the components before finetuning, by the baseline; NaN without one",
    "cka_reference": "CKA of the baseline and after finetuning; without one its mean over permutations of samples",
    "ensd_reference": "ENSD of the baseline and after finetuning; without one its mean over permutations of samples",
    "curvature": "held-out R² of products of the leading components before finetuning, less what is linear in them",
    "told_of_itself": "held-out R² of a layer's components by the same layer: the smaller one of before and after",
    "matched_units": "mean correlation of a unit before with itself after finetuning, beyond that with other units",
    "samples_needed": "samples that suffice for a verdict where there are too few; else NaN",
    "task_chance": "score of a probe without any input: frequency of the most common class, or 0",
    "control_r2": "held-out R² of the components after finetuning, by ridge regression on the control",
    "weight_change": "norm of the change of the layer's parameters over their norm before; NaN without parameters",
    "weight_rank": "participation ratio of the squared singular values of the weight matrix that changed most",
}
ENDS = {"": "", "_low": "lower end of the interval of: ", "_high": "upper end of the interval of: "}
MEANING = (
    TEXTS
    | BY_VARIANCE
    | {f"{name}{end}": f"{of}{meaning}" for name, meaning in WITH_INTERVALS.items() for end, of in ENDS.items()}
    | FACTS
)
"""Every variable of a diagnosis, in order."""


def attributes(name: str) -> dict[str, str]:
    """Meaning and units of a variable."""
    return {"long_name": MEANING[name], "units": "1"}


class Sampling(NamedTuple):
    """The samples: `block` (samples,), the same for those that are left out together, how many different `groups` there
    are by their names, and whether both sides are known to have the same order."""

    block: np.ndarray
    groups: int
    ordered: bool


def of_layer(
    layers: Sequence[np.ndarray],
    sampling: Sampling,
    p: Any,
    labels: task.Task | None = None,
    control: np.ndarray | None = None,
) -> dict[str, Any]:
    """Quantities and verdicts of a layer, by the names of MEANING.

    Parameters
    ----------
    layers : centred responses (samples, units) before, after and, maybe, of the baseline
    p : parameters of `diagnose`
    control : centred responses (samples, units) after another finetuning
    """
    units = [X.shape[1] for X in layers]
    rows = inheritance.chosen_samples(len(sampling.block), max(units))
    recorded, block = [X[rows] for X in layers], sampling.block[rows]
    old = components(recorded[0], p.variance)
    parts = [old, *(components(X, p.variance, old) for X in recorded[1:])]
    new = parts[1]

    after, before, ensd, cka = compare_responses(*layers[:2])
    row: dict[str, Any] = dict(zip(BY_VARIANCE, (before, after, ensd, cka, after / before, ensd / after), strict=True))
    row |= {"samples": len(sampling.block), "groups": sampling.groups, "units_before": units[0],
            "units_after": units[1], "components_before": old.counted, "components_after": new.counted,
            "dominant_before": old.dominant, "dominant_after": new.dominant,
            "matched_units": inheritance.matched_units(*recorded[:2])}  # fmt: skip
    if len(parts) > 2:
        unrelated = inheritance.alignment(parts[2], new)
        row["ensd_reference"] = unrelated * np.sqrt(after / (parts[2].variances ** 2).sum())
    else:  # a permutation P of samples: E tr(K P L Pᵀ) = tr K tr L / (samples − 1) for centred K and L
        unrelated = np.sqrt(before * after) / (row["samples"] - 1)
        row["ensd_reference"] = before * after / (row["samples"] - 1)
    row["cka_reference"] = min(float(unrelated), 1.0)

    row |= _by_regression(parts, block, p.confidence)
    row |= decided(row, p)
    row["warning"] = "; ".join(warnings_on(row, recorded, parts, block, sampling.ordered, p.most))
    if labels is not None:
        row |= task.probed(labels, parts, rows, block, p.confidence)
    if control is not None:
        row["control_r2"] = inheritance.inherited(components(control[rows], p.variance, old), new, block).r2
        row["control_regime"] = of_layer([layers[0], control, *layers[2:]], sampling, p)["regime"]
    return row


def _by_regression(parts: list[Components], block: np.ndarray, confidence: float) -> dict[str, float]:
    """Quantities of `BY_REGRESSION` with intervals, and the facts behind them."""
    old, new, *unrelated = parts
    quantities = with_ends("reweighting", np.nan, np.nan, np.nan)
    for name, source, targets, measure in (
        ("inherited", old, new, inheritance.inherited),
        ("kept", new, old, inheritance.kept),
    ):
        errors = measure(source, targets, block)
        reference = measure(unrelated[0], targets, block) if unrelated else None
        quantities[f"{name}_reference"] = np.nan if reference is None else reference.r2
        # Beyond a reference that predicts nearly everything there is only noise.
        distinct = None if reference is None or reference.r2 > CLOSE else reference
        variances = targets.variances[: targets.counted]
        for kind, relative_to, weights in (
            ("r2", None, None), ("share", reference, None), ("weighted", distinct, variances)
        ):  # fmt: skip
            values, half = inheritance.shares(errors, relative_to, block, weights)
            low, high = jackknife.interval(values, confidence)
            # Twice the samples would change the share at most by as much as all samples change it from half of them.
            change = values[0] - half
            low, high = min(low, values[0]) + min(change, 0), max(high, values[0]) + max(change, 0)
            quantities |= with_ends(f"{name}_{kind}", *np.clip([values[0], low, high], -1, 1))
    if min(quantities["inherited_r2"], quantities["kept_r2"]) > 0.5:  # too few surviving features otherwise
        factors = inheritance.reweighting(old, new, quantities["kept_r2"], block)
        low, high = jackknife.interval(factors, confidence)
        quantities |= with_ends("reweighting", factors[0], max(min(low, factors[0]), 1.0), max(high, factors[0]))
    quantities["curvature"] = inheritance.curvature(old, block)
    quantities["told_of_itself"] = min(inheritance.self_predicted(layer, block) for layer in (old, new))
    return quantities
