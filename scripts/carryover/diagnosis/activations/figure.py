"""The figure of a diagnosis: what became of every layer."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from xarray import Dataset

from carryover.diagnosis.activations.quantities import MEANING

_DIMENSIONS = {"participation_ratio_before": "PR before", "participation_ratio_after": "PR after", "ensd": "ENSD"}
_SHARES = {"inherited_share": "inherited", "kept_share": "kept", "kept_weighted": "kept, by variance"}
_RATIOS = {"change": "PR after / PR before", "inherited": "ENSD / PR after", "cka": "CKA"}
_TITLE: dict[str, Any] = {"loc": "left", "fontsize": "medium"}
_LOWEST = -0.5  # of shares: what is below is no more than unrelated anyway
_ABREAST = 14  # letters of a name that fit beside those of the next layer


def draw(result: Dataset) -> Figure:
    """Three panels, by layer in the order of the data: bars are intervals. `result` is what `diagnose` returned."""
    layers = result["layer"].values.tolist()
    labels = [f"{name}\n{regime}" for name, regime in zip(layers, result["regime"].values, strict=True)]
    longest = max(len(name) for name in layers)
    upwards = longest > _ABREAST
    size = max(6.5, 2.0 + 0.9 * len(layers)), 8.4 + (0.08 * longest if upwards else 0)
    fig, axes = plt.subplots(3, 1, figsize=size, sharex=True, layout="constrained")
    shares, dimensions, ratios = axes
    for ax, quantities in ((shares, _SHARES), (dimensions, _DIMENSIONS), (ratios, _RATIOS)):
        for place, (quantity, label) in enumerate(quantities.items()):
            _points(ax, result, quantity, 0.15 * (place - (len(quantities) - 1) / 2), label)
    shares.axhline(result.attrs["most"], color="0.6", linewidth=0.8, linestyle=":")
    shares.axhline(0, color="0.8", linewidth=0.8, zorder=0)
    shares.set_ylim(_LOWEST, 1.08)
    reference = "what the baseline tells" if result.attrs["reference"] == "baseline" else "no baseline given"
    shares.set_title(f"a  Shares of components, beyond reference ({reference})", **_TITLE)
    shares.set_ylabel("share of components")
    dimensions.set_ylim(bottom=0)
    dimensions.set_title("b  Dimensions by variance, and those that both share", **_TITLE)
    dimensions.set_ylabel("dimensions")
    ratios.plot(
        np.arange(len(layers)) + 0.15, result["cka_reference"], "_", color="0.4", markersize=14, label="CKA, unrelated"
    )
    ratios.set_ylim(0, max(ratios.get_ylim()[1], 1.2))
    ratios.set_title("c  Ratios by variance, as the paper has them", **_TITLE)
    ratios.set_ylabel("ratio")
    for ax in axes:
        ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    ratios.set_xticks(range(len(layers)), labels, rotation=90 if upwards else 0, size="small")
    ratios.set_xlim(-0.6, len(layers) - 0.4)
    fig.suptitle(
        f"What finetuning did to the features (bars: {result.attrs['confidence']:.0%} intervals;\n"
        f"dotted: {result.attrs['most']:g} of the components, from which on they count as inherited, or kept)",
        fontsize="medium",
    )
    return fig


def _points(ax: Axes, result: Dataset, quantity: str, shift: float, label: str) -> None:
    places = np.arange(result.sizes["layer"]) + shift
    if quantity not in MEANING:
        ax.plot(places, result[quantity], "o", label=label, clip_on=False)
        return
    values, low, high = (np.maximum(result[f"{quantity}{end}"], _LOWEST) for end in ("", "_low", "_high"))
    (points,) = ax.plot(places, values, "o", label=label, clip_on=False)
    ax.vlines(places, low, high, color=points.get_color(), linewidth=1.2)  # may lie off the point where samples are few
