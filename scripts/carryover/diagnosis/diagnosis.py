"""What finetuning did to the features of a network of one's own: select, reweight, add, replace, or nothing?

    from carryover import diagnose
    result = diagnose("before.npz", "after.npz")         # or mappings {layer: (samples, units)}, or two arrays
    print(result.headline)

Section G of "Feature reuse in multi-task learning and finetuning (appendix)" uses the participation ratio (PR) and the
effective number of shared dimensions (ENSD), which weigh directions by their variance. They are given as in the paper;
the verdict uses measures in which every component weighs the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import Field
from tqdm import tqdm

from carryover.config.parameters import Model, parameter
from carryover.diagnosis import inheritance, report, task
from carryover.diagnosis.inheritance import Components, components, with_ends
from carryover.diagnosis.regimes import CLOSE, CONSTANT, UNCHANGED, decide, warnings_on
from carryover.diagnosis.sources import Activations, Constant, as_array, common_samples, open_source
from carryover.errors import UserError
from carryover.measures.dimensionality import compare_responses
from carryover.statistics import jackknife

_BYTES = 2**29  # of a layer, at the samples of which components are taken
_SAMPLES = 4096  # of which components are taken: intervals of shares are narrower than .01 by then


class Parameters(Model):
    """Criteria, fixed before the data are seen."""

    most: Annotated[float, Field(gt=0, le=1)] = parameter(
        0.8, "share of the components from which on a layer is inherited, or kept")  # fmt: skip
    factor: Annotated[float, Field(ge=1)] = parameter(
        1.5, "typical factor between changes of variances from which on they count")  # fmt: skip
    variance: Annotated[float, Field(gt=0, le=0.999999)] = parameter(
        0.95, "share of the variance that counted components hold")  # fmt: skip
    enough: Annotated[float, Field(ge=1)] = parameter(10.0, "least samples, in multiples of the larger PR")
    confidence: Annotated[float, Field(gt=0, le=0.999)] = parameter(
        0.95, "probability that an interval contains the truth")  # fmt: skip


DEFAULTS = Parameters()
TEXTS = {
    "regime": "what finetuning did to the features of the layer",
    "task": "what happened to the linear readability of the task",
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
    "self_prediction": "held-out R² of a layer's components by the same layer: the smaller one of before and after",
    "matched_units": "mean correlation of a unit before with itself after finetuning, beyond that with other units",
    "samples_needed": "samples that suffice for a verdict where there are too few; else NaN",
    "task_chance": "score of a probe without any input: one over the number of classes, or 0",
    "task_lost": "classes (or targets) that a probe recognised before finetuning and mostly misses after",
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


class Diagnosis(xr.Dataset):
    """What `diagnose` returns, an xarray dataset by layer with a headline."""

    __slots__ = ()

    @property
    def headline(self) -> str:
        """'3 layers: select in 2 (conv3, conv4), undecided in 1 (conv5). …'"""
        return report.headline(self)

    def plot(self) -> Figure:  # type: ignore[override]
        """A figure of shares, dimensions and ratios by layer."""
        return report.draw(self)


def diagnose(
    before: Mapping[str, Any] | str | Path | Any,
    after: Mapping[str, Any] | str | Path | Any,
    *,
    layers: Sequence[str] | str | None = None,
    p: Parameters = DEFAULTS,
    baseline: Mapping[str, Any] | str | Path | Any | None = None,
    labels: Any = None,
    progress: bool = False,
) -> Diagnosis:
    """Diagnose each layer: what happened to its features, and to what the task needs.

    Parameters
    ----------
    before, after
        Activations by layer of the pretrained and the finetuned network, in response to the same samples in the same
        order: mappings {layer: (samples, …)}, arrays or tensors of one layer, or files, npz, npy (one layer), netCDF or
        safetensors. An array `sample_id` or `id` (samples,) names the samples. It is compared where both have it, and
        samples of one name, such as crops of one image, are left out together.
    layers
        The ones to look at; all by default.
    p
        Criteria, fixed before the data were seen.
    baseline
        The same of an unrelated network, such as a re-initialised one of the same shape: shares are beyond its R².
        Without it a layer that an unrelated network might predict as well is undecided.
    labels
        (samples,) classes, or (samples,) or (samples, targets) numbers, which a linear probe is to read.
    progress
        Whether layers are counted on the standard error.

    Returns
    -------
    Diagnosis
        The variables of `MEANING`, (layer,). Intervals are of the jackknife over blocks of samples, with
        Student's t; those of shares are wider by what the second half of the samples changed.

    Raises
    ------
    UserError
        A ValueError, in one sentence, for files that cannot be read, samples that differ in number or order or are
        fewer than 20, layers that one side lacks or that are not finite, and for labels that no probe can be fitted to.
    """
    given = {"before": before, "after": after} | ({} if baseline is None else {"baseline": baseline})
    with ExitStack() as stack:
        sides = {name: stack.enter_context(open_source(source, name)) for name, source in given.items()}
        chosen = [layers] if isinstance(layers, str) else layers
        names = list(dict.fromkeys([*sides["before"].layers, *sides["after"].layers] if chosen is None else chosen))
        if not names:
            raise UserError("layers must name at least one layer")
        samples, ids = common_samples(list(sides.values()), names)
        sampling = Sampling(
            block=inheritance.sample_blocks(samples, ids),
            groups=samples if ids is None else len(np.unique(ids)),
            ordered=all(sides[name].ids is not None for name in ("before", "after")),
        )
        probed = None if labels is None else task.Targets.of(as_array("labels", labels), samples)
        rows: list[dict[str, Any]] = []
        for name in tqdm(names, "layers", disable=not progress, leave=False):
            rows.append(_of_sides(sides, name, sampling, p, probed))
    columns = {
        name: ("layer", [row.get(name, "" if name in TEXTS else np.nan) for row in rows], attributes(name))
        for name in MEANING
        if any(name in row for row in rows)
    }
    coords = {"layer": ("layer", names, {"long_name": "layer of the network", "units": "1"})}
    criteria = p.model_dump(include=set(Parameters.model_fields))
    reference = "permutation of samples" if baseline is None else "baseline"
    return Diagnosis(columns, coords, {**criteria, "reference": reference})


def _of_sides(
    sides: Mapping[str, Activations], name: str, sampling: Sampling, p: Parameters, probed: task.Targets | None
) -> dict[str, Any]:
    """`of_layer` of a layer by its name, or, where it is constant before or after, a row that says so and holds NaN.

    `sides` are activations before, after and, maybe, of the baseline."""
    responses, still = {}, []
    for key, side in sides.items():
        try:
            responses[key] = side.matrix(name)
        except Constant:
            still.append(key)
    if "before" in responses and "after" in responses:
        return of_layer(responses, sampling, p, probed)
    when = " and ".join(key for key in still if key in ("before", "after"))
    asked = {"task_chance", "task_lost", "weight_change", "weight_rank"}  # for which more must be given
    # The variables that any layer has, so that a diagnosis has them even if all of its layers are constant.
    quantities = [*BY_VARIANCE, *(f"{name}{end}" for name in BY_REGRESSION for end in ENDS), *(FACTS.keys() - asked)]
    row = {"regime": CONSTANT, "reason": f"it is the same for all samples {when} finetuning", "warning": ""}
    if probed is not None:  # nothing is read of what does not vary
        rows = _rows(len(sampling.block), 1)
        nothing = Components(np.zeros(1), np.zeros((len(rows), 1)), 1, 1)
        chosen = [key for key in ("before", "after", "baseline") if key in sides]
        parts = [components(responses[key][rows], p.variance) if key in responses else nothing for key in chosen]
        row |= task.probe_task(probed, parts, rows, sampling.block[rows], p.confidence)
    return dict.fromkeys(quantities, np.nan) | row | {"samples": len(sampling.block), "groups": sampling.groups}


class Sampling(NamedTuple):
    """The samples: `block` (samples,), the same for those that are left out together, how many different `groups` there
    are by their names, and whether both sides are known to have the same order."""

    block: np.ndarray
    groups: int
    ordered: bool


def _rows(samples: int, units: int) -> np.ndarray:
    """Samples of which components are taken, spread over all; fewer of layers with very many units."""
    most = min(_SAMPLES, max(_BYTES // (4 * units), 64))
    return np.linspace(0, samples - 1, min(samples, most)).astype(int)


def of_layer(
    responses: Mapping[str, np.ndarray], sampling: Sampling, p: Parameters, labels: task.Targets | None = None
) -> dict[str, Any]:
    """Quantities and verdicts of a layer, by the names of MEANING.

    `responses` are centred, (samples, units), before, after and, maybe, of the baseline.
    """
    samples, units = len(sampling.block), [X.shape[1] for X in responses.values()]
    rows = _rows(samples, max(units))
    recorded, block = [X[rows] for X in responses.values()], sampling.block[rows]
    old = components(recorded[0], p.variance)
    parts = [old, *(components(X, p.variance, old) for X in recorded[1:])]
    new = parts[1]

    after, before, ensd, cka = compare_responses(responses["before"], responses["after"])
    row: dict[str, Any] = dict(zip(BY_VARIANCE, (before, after, ensd, cka, after / before, ensd / after), strict=True))
    row |= {"samples": samples, "groups": sampling.groups, "units_before": units[0],
            "units_after": units[1], "components_before": old.counted, "components_after": new.counted,
            "dominant_before": old.dominant, "dominant_after": new.dominant,
            "matched_units": inheritance.unit_correlation(*recorded[:2])}  # fmt: skip
    # CKA is tr KL/√(tr K² tr L²) of kernels K and L, PR is (tr K)²/tr K², and ENSD is CKA √(PR PR').
    if len(parts) > 2:  # from the leading components; variances are shares, so PR' is 1/sums[0]
        other, sums = parts[2], [(one.variances**2).sum() for one in (parts[2], new)]
        unrelated = np.square(other.variance_scores.T @ new.variance_scores / len(rows)).sum() / np.sqrt(
            sums[0] * sums[1]
        )
        row["ensd_reference"] = unrelated * np.sqrt(after / sums[0])
    else:  # a permutation P of samples: E tr(K P L Pᵀ) = tr K tr L / (samples − 1) for centred K and L
        unrelated = np.sqrt(before * after) / (samples - 1)
        row["ensd_reference"] = before * after / (samples - 1)
    row["cka_reference"] = min(float(unrelated), 1.0)

    row |= _by_regression(parts, block, p.confidence)
    row["regime"], row["reason"], row["samples_needed"] = decide(row, p)
    row["warning"] = "; ".join(warnings_on(row, recorded, parts, block, sampling.ordered, p.most))
    if labels is not None:
        row |= task.probe_task(labels, parts, rows, block, p.confidence)
        if row["regime"] == UNCHANGED and row["task"] in (task.ADDED, task.LOST):
            row["warning"] += "; " * bool(row["warning"]) + "the task changed in components that do not count"
    return row


def _by_regression(parts: list[Components], block: np.ndarray, confidence: float) -> dict[str, float]:
    """{variable of MEANING: value}: quantities of `BY_REGRESSION` with their intervals, and facts that explain them.

    `parts` are components before, after and, if given, of the baseline; `block` (samples,) numbers jackknife blocks."""
    old, new, *unrelated = parts
    quantities = with_ends("reweighting", np.nan, np.nan, np.nan)
    for name, source, targets, measure in (
        ("inherited", old, new, inheritance.predict_from_all),
        ("kept", new, old, inheritance.predict_from_visible),
    ):
        errors = measure(source, targets, block)
        reference = measure(unrelated[0], targets, block) if unrelated else None
        quantities[f"{name}_reference"] = np.nan if reference is None else reference.r2
        # No share beyond a reference that predicts nearly everything: it would be only noise.
        distinct = None if reference is None or reference.r2 > CLOSE else reference
        variances = targets.variances[: targets.counted]
        for kind, base, weights in (("r2", None, None), ("share", reference, None), ("weighted", distinct, variances)):
            values, half = inheritance.shares(errors, base, block, weights)
            low, high = jackknife.interval(values, confidence)
            change = values[0] - half  # by the second half of the samples; as many again change no more
            low, high = min(low, values[0]) + min(change, 0), max(high, values[0]) + max(change, 0)
            # An interval contains its value, which the bias that the jackknife subtracts may leave outside.
            quantities |= with_ends(f"{name}_{kind}", *np.clip([values[0], low, high], -1, 1))
    if min(quantities["inherited_r2"], quantities["kept_r2"]) > 0.5:  # too few surviving features otherwise
        factors = inheritance.reweighting(old, new, quantities["kept_r2"], block)
        low, high = jackknife.interval(factors, confidence)
        quantities |= with_ends("reweighting", factors[0], max(min(low, factors[0]), 1.0), max(high, factors[0]))
    quantities["curvature"] = inheritance.curvature(old, block)
    # An upper limit for the prediction by any layer: 1 where fitted samples outnumber the predicting directions.
    fitted = len(block) - np.bincount(block % inheritance.FOLDS).max()
    wide = [layer for layer in (old, new) if len(layer.variances) >= fitted]
    quantities["self_prediction"] = min(
        [1.0, *(inheritance.predict_from_visible(layer, layer, block).r2 for layer in wide)]
    )
    return quantities
