"""What finetuning did to the features of a network of one's own: select some of them, keep them, or learn others?

    from carryover.diagnosis.diagnosis import diagnose
    result = diagnose("before.npz", "after.npz")         # or two mappings {layer: (samples, units)}
    print(result["regime"].to_series())

Section G of "Feature reuse in multi-task learning and finetuning (appendix)": in the nested feature selection regime
the participation ratio (PR) falls, and the effective number of shared dimensions (ENSD) is nearly the PR that is left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from scipy import stats

from carryover.config.parameters import check, parameter
from carryover.diagnosis.activations.overlaps import Overlaps, overlaps
from carryover.diagnosis.activations.regimes import decided
from carryover.diagnosis.activations.responses import Responses, Rooms, dealt
from carryover.diagnosis.activations.sources import Activations, opened
from carryover.errors import UserError

MEANING = {
    "participation_ratio_before": "participation ratio (PR) before finetuning",
    "participation_ratio_after": "participation ratio (PR) after finetuning",
    "ensd": "effective number of dimensions shared before and after finetuning (ENSD)",
    "cka": "linear centred kernel alignment of before and after finetuning (CKA)",
    "change": "PR after over PR before finetuning",
    "inherited": "ENSD over PR after finetuning",
    "effective_rank_before": "effective rank before finetuning, exp of the entropy of the covariance's spectrum",
    "effective_rank_after": "effective rank after finetuning, exp of the entropy of the covariance's spectrum",
}
_FACTS = {
    "layer": "layer of the network",
    "samples": "samples of which there are responses",
    "units_before": "units of the layer before finetuning",
    "units_after": "units of the layer after finetuning",
    "regime": "what finetuning did to the features of the layer",
    "reason": "why, with every criterion",
}


@dataclass(frozen=True, kw_only=True)
class Parameters:
    change: float = parameter(0.1, "relative change of PR from which on it counts", above=0, maximum=1)
    near: float = parameter(0.2, "nested: largest distance of ENSD / PR after from 1", above=0, maximum=1)
    alike: float = parameter(0.9, "lazy: least CKA", above=0, maximum=1)
    fresh: float = parameter(0.5, "fresh: largest ENSD / PR after", above=0, maximum=1)
    enough: float = parameter(10.0, "least samples, in multiples of the larger PR", minimum=1)
    confidence: float = parameter(0.95, "probability that an interval contains the truth", above=0, maximum=0.999)


@dataclass(frozen=True, kw_only=True)
class Options(Parameters):
    """What the command line and the configuration say of a diagnosis."""

    layers: tuple[str, ...] = parameter((), "layers to look at; none: all")


DEFAULTS = Parameters()


def diagnose(
    before: Mapping[str, Any] | str | Path,
    after: Mapping[str, Any] | str | Path,
    *,
    layers: Sequence[str] | None = None,
    p: Parameters = DEFAULTS,
) -> xr.Dataset:
    """PR, effective rank, ENSD and CKA of every layer with intervals, and the regime that they tell, (layer,).

    Args:
        before, after: activations by layer of the pretrained and the finetuned network, in response to the same samples
            in the same order: mappings {layer: (samples, …)} or files, npz, npy (one layer), netCDF or safetensors, of
            which layers may be larger than memory. An array `sample_id` or `id` (samples,) names the samples, and is
            compared where both have it.
        layers: the ones to look at; all by default.
        p: criteria, fixed before the data were seen.

    Returns:
        The quantities of `MEANING`, each with its interval `…_low`, `…_high`: jackknife over blocks of samples,
        Student's t, centred at the estimate less its bias of order 1/samples. The value itself is that of the paper's
        formula, whose PR is too small where samples are few: a layer with fewer than `enough` times its PR is
        undecided. Effective ranks of more than 1024 samples and units have no interval: NaN.

    Raises:
        UserError: a ValueError, in one sentence, for files that cannot be read, samples that differ in number or
            order, layers that one side lacks, that are not finite or that are the same for all samples.
    """
    check(p)
    with opened(before, "before") as old, opened(after, "after") as new:
        names = _same(old, new, layers)
        block = dealt(old.layers[names[0]].samples)
        rooms = Rooms()
        rows = [_row(old, new, name, block, p, rooms) for name in names]
    result = xr.Dataset({key: ("layer", [row[key] for row in rows]) for key in rows[0]}, coords={"layer": names})
    for name, variable in result.variables.items():
        name = str(name)
        stem, _, end = name.rpartition("_")
        ends = {"low": "lower", "high": "upper"}
        meaning = f"{ends[end]} end of the interval of: {MEANING[stem]}" if end in ends else (MEANING | _FACTS)[name]
        variable.attrs = {"long_name": meaning, "units": "1"}
    result.attrs = {name: getattr(p, name) for name in asdict(DEFAULTS)}
    return result


def _same(old: Activations, new: Activations, layers: Sequence[str] | None) -> list[str]:
    """Names of the layers to compare, once both have them and the same samples."""
    names = list(dict.fromkeys([*old.layers, *new.layers] if layers is None else layers))
    for side in (old, new):
        if missing := [name for name in names if name not in side.layers]:
            raise UserError(
                f"{side.name} lacks the layer {missing[0]}; it has {', '.join(side.layers)}: name layers that both have"
            )
    if not names:
        raise UserError("layers must name at least one layer")
    counts = [side.layers[names[0]].samples for side in (old, new)]
    if counts[0] != counts[1]:
        raise UserError(
            f"{old.name} and {new.name} must have the same samples, got {counts[0]} and {counts[1]} of them"
        )
    if old.ids is not None and new.ids is not None:
        differ = np.flatnonzero(old.ids.astype(str) != new.ids.astype(str))
        if len(differ):
            here, there = old.ids[differ[0]], new.ids[differ[0]]
            raise UserError(
                f"{old.name} and {new.name} must have the same samples in the same order, but sample {differ[0]} is "
                f"{here} and {there}"
            )
    return names


def _row(
    old: Activations, new: Activations, name: str, block: np.ndarray, p: Parameters, rooms: Rooms
) -> dict[str, Any]:
    before = Responses("before", old.layers[name], block, rooms)
    after = Responses("after", new.layers[name], block, rooms)
    row: dict[str, Any] = {"samples": len(block), "units_before": before.layer.units, "units_after": after.layer.units}
    for key, values in _quantities(overlaps(before, after)).items():
        row[key] = values[0]
        row[f"{key}_low"], row[f"{key}_high"] = jackknife(values, p.confidence)
    row["regime"], row["reason"] = decided(row, asdict(p))
    return row


def _quantities(o: Overlaps) -> dict[str, np.ndarray]:
    """(1 + blocks,) of each quantity of `MEANING`."""
    with np.errstate(invalid="ignore", divide="ignore"):  # of blocks without which nothing varies
        before, after = o.x**2 / o.xx, o.y**2 / o.yy
        ensd = o.xy * o.x * o.y / (o.xx * o.yy)
        cka = o.xy / np.sqrt(o.xx * o.yy)
        values = (before, after, ensd, cka, after / before, ensd / after, o.rank_x, o.rank_y)
    return dict(zip(MEANING, values, strict=True))


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
