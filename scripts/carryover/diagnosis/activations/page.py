"""A diagnosis as one HTML page that needs no other file."""

from base64 import b64encode
from collections import Counter

import numpy as np
from xarray import Dataset

from carryover.diagnosis.activations.regimes import WORDS, criteria, in_words
from carryover.templates.rendering import rendered

_COLUMNS = {
    "participation_ratio_before": "PR before",
    "participation_ratio_after": "PR after",
    "ensd": "ENSD",
    "change": "PR after / before",
    "inherited": "ENSD / PR after",
    "cka": "CKA",
    "effective_rank_before": "effective rank before",
    "effective_rank_after": "effective rank after",
}


def summary(result: Dataset) -> str:
    """'3 layers: nested feature selection in 2, undecided in 1.' of what `diagnose` returned."""
    counts = Counter(result["regime"].values.tolist())
    layers = result.sizes["layer"]
    said = ", ".join(f"{regime} in {counts[regime]}" for regime in WORDS if counts[regime])
    return f"{layers} layer{'s' * (layers > 1)}: {said}."


def page(result: Dataset, png: bytes, note: str = "") -> str:
    """The page of what `diagnose` returned, with its figure and the criteria; `note` is one more line at the end."""
    return rendered(
        "diagnosis.html.j2",
        summary=summary(result),
        regimes={regime: words for regime, words in WORDS.items() if regime in result["regime"].values},
        figure=b64encode(png).decode(),
        heads=("layer", "regime", "samples", "units", *_COLUMNS.values()),
        rows=[_row(result.sel(layer=name), name) for name in result["layer"].values.tolist()],
        limits=result.attrs,
        criteria=criteria(result.attrs),
        in_words=in_words,
        note=note,
    )


def _row(layer: Dataset, name: str) -> list[str | list[str]]:
    regime, reason, samples, before, after = (
        layer[key].item() for key in ("regime", "reason", "samples", "units_before", "units_after")
    )
    cells: list[str | list[str]] = [name, [regime, reason], str(samples), f"{before} → {after}"]
    for quantity in _COLUMNS:
        value, low, high = (layer[f"{quantity}{end}"].item() for end in ("", "_low", "_high"))
        ends = [] if np.isnan(low) else [f"[{low:.3g}, {high:.3g}]"]
        cells.append([f"{value:.3g}", *ends])
    return cells
