"""A diagnosis as one HTML page that needs no other file."""

import html
from base64 import b64encode
from collections import Counter

from xarray import Dataset

from carryover.diagnosis.activations.regimes import WORDS, criteria, in_words

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
_STYLE = (
    "body{font:15px/1.45 system-ui,sans-serif;margin:1.5em auto;max-width:80em;padding:0 1em}img{max-width:100%}"
    "table{border-collapse:collapse}td,th{text-align:left;vertical-align:top;padding:.3em .6em;"
    "border-bottom:1px solid #ccc}small{display:block;color:#555}.scroll{overflow-x:auto}"
)
_NOTE = (
    "PR: participation ratio, the effective number of dimensions of responses less their mean; ENSD: effective number "
    "of dimensions that the responses before and after finetuning share; CKA: linear centred kernel alignment; "
    "effective rank: exp of the entropy of the covariance's spectrum. Values are those of the formulas; where samples "
    "are few, PR is too small, by about the share PR / samples of it. Brackets: intervals from leaving out blocks of "
    "samples, centred at the value less that bias. They are about other samples of the same kind, not about other "
    "networks. Of CKA near 1 a few large directions can be the reason: see ENSD and PR with it. Criteria as in "
    "“Feature reuse in multi-task learning and finetuning”, appendix, section G."
)


def summary(found: Dataset) -> str:
    """'3 layers: nested feature selection in 2, undecided in 1.' of what `diagnose` returned."""
    counts = Counter(found["regime"].values.tolist())
    layers = found.sizes["layer"]
    said = ", ".join(f"{regime} in {counts[regime]}" for regime in WORDS if counts[regime])
    return f"{layers} layer{'s' * (layers > 1)}: {said}."


def page(found: Dataset, png: bytes, note: str = "") -> str:
    """The page of what `diagnose` returned, with its figure and the criteria; `note` is one more line at the end."""
    rules = "".join(
        f"<li><b>{regime}</b>: {html.escape(in_words(ranges))}</li>" for regime, ranges in criteria(found.attrs).items()
    )
    seen = [regime for regime in WORDS if regime in found["regime"].values]
    words = "".join(f"<li><b>{regime}</b>: {WORDS[regime]}</li>" for regime in seen)
    heads = "".join(f"<th>{head}</th>" for head in ("layer", "regime", "samples", "units", *_COLUMNS.values()))
    rows = "\n".join(_row(found.sel(layer=name), name) for name in found["layer"].values.tolist())
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Diagnosis of finetuning</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_STYLE}</style></head>\n'
        f"<body><h1>What finetuning did to the features</h1>\n<p><b>{summary(found)}</b></p>\n<ul>{words}</ul>\n"
        f'<img alt="dimensions by layer" src="data:image/png;base64,{b64encode(png).decode()}">\n'
        f'<div class="scroll"><table><thead><tr>{heads}</tr></thead>\n<tbody>{rows}</tbody></table></div>\n'
        f"<h2>Criteria</h2><p>Fixed before the data were seen; a criterion holds where the whole "
        f"{found.attrs['confidence']:.0%} interval meets it. A layer with fewer samples than "
        f"{found.attrs['enough']:g} times its PR is undecided.</p><ul>{rules}</ul>\n<p>{_NOTE}</p>\n"
        f"<p><small>{html.escape(note)}</small></p></body></html>\n"
    )


def _row(layer, name):
    regime = f"<b>{layer['regime'].item()}</b><small>{html.escape(layer['reason'].item())}</small>"
    units = f"{layer['units_before'].item()} → {layer['units_after'].item()}"
    cells = [html.escape(name), regime, str(layer["samples"].item()), units]
    for quantity in _COLUMNS:
        value, low, high = (layer[f"{quantity}{end}"].item() for end in ("", "_low", "_high"))
        ends = f"<small>[{low:.3g}, {high:.3g}]</small>" if low == low else ""
        cells.append(f"{value:.3g}{ends}")
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
