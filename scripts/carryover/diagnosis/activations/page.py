"""A diagnosis as one HTML page that needs no other file, and as a table for a notebook."""

from base64 import b64encode
from typing import Any

import numpy as np
from xarray import Dataset

from carryover.diagnosis.activations.headline import headline
from carryover.diagnosis.activations.quantities import MEANING
from carryover.diagnosis.activations.regimes import WORDS, in_words
from carryover.templates.rendering import rendered

_COLUMNS = {
    "inherited_share": "inherited",
    "kept_share": "kept",
    "inherited_weighted": "inherited, by variance",
    "kept_weighted": "kept, by variance",
    "task_before": "probe before",
    "task_after": "probe after",
    "reweighting": "reweighted by",
    "participation_ratio_before": "PR before",
    "participation_ratio_after": "PR after",
    "ensd": "ENSD",
    "change": "PR after / before",
    "inherited": "ENSD / PR after",
    "cka": "CKA",
}
_BRIEF = ("inherited_share", "kept_share", "kept_weighted", "task_before", "task_after", "reweighting",
          "participation_ratio_before", "participation_ratio_after", "ensd", "cka")  # fmt: skip
_FACTS = ("regime", "reason", "warning", "samples", "units_before", "units_after", "samples_needed")
_REFERENCES = {"inherited_share": "inherited_reference", "kept_share": "kept_reference", "ensd": "ensd_reference",
               "cka": "cka_reference", "task_after": "task_baseline"}  # fmt: skip


def page(result: Dataset, png: bytes, note: str = "") -> str:
    """The page of what `diagnose` returned, with its figure and the criteria; `note` is one more line at the end."""
    return rendered("diagnosis.html.j2", figure=b64encode(png).decode(), note=note, **_told(result, tuple(_COLUMNS)))


def fragment(result: Dataset) -> str:
    """The headline and a table, as a notebook shows it."""
    return rendered("diagnosis_table.html.j2", **_told(result, _BRIEF))


def _told(result: Dataset, columns: tuple[str, ...]) -> dict[str, Any]:
    columns = tuple(name for name in columns if name in result)
    return {
        "summary": headline(result),
        "regimes": {regime: words for regime, words in WORDS.items() if regime in result["regime"].values},
        "heads": ("layer", "verdict", "samples", "units", *(_COLUMNS[name] for name in columns)),
        "rows": [_row(result.sel(layer=name), name, columns) for name in result["layer"].values.tolist()],
        "limits": result.attrs,
        "criteria": in_words(result.attrs),
    }


def _row(layer: Dataset, name: str, columns: tuple[str, ...]) -> list[str | list[str]]:
    regime, reason, warning, samples, before, after, needed = (layer[key].item() for key in _FACTS)
    wanted = f"about {needed:,.0f} samples would decide" if not np.isnan(needed) else ""
    said = [text for text in (reason, wanted, f"Note: {warning}" if warning else "") if text]
    cells: list[str | list[str]] = [name, [regime, "; ".join(said)], str(samples), f"{before} → {after}"]
    for quantity in columns:
        value = layer[quantity].item()
        low, high = (layer[f"{quantity}_{end}"].item() if quantity in MEANING else np.nan for end in ("low", "high"))
        ends = [] if np.isnan(low) else [f"[{low:.3g}, {high:.3g}]"]
        reference = layer[_REFERENCES[quantity]].item() if quantity in _REFERENCES else np.nan
        beside = [] if np.isnan(reference) else [f"unrelated: {reference:.3g}"]
        cells.append(["" if np.isnan(value) else f"{value:.3g}", *ends, *beside])
    return cells
