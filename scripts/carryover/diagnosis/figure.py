"""The figure of a diagnosis: what became of every layer."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from xarray import Dataset

from carryover.diagnosis.quantities import WITH_INTERVALS

_SHARES = {"inherited_share": "inherited", "kept_share": "kept", "kept_weighted": "kept, by variance"}
_DIMENSIONS = {"participation_ratio_before": "PR before", "participation_ratio_after": "PR after", "ensd": "ENSD"}
_RATIOS = {"change": "PR after / PR before", "inherited": "ENSD / PR after", "cka": "CKA"}
_LOWEST = -0.5  # of shares: what is below is no more than unrelated anyway
_ABREAST = 14  # letters of a name that fit beside those of the next layer


def draw(result: Dataset) -> Figure:
    """Three panels, by layer in the order of the data: bars are intervals. `result` is what `diagnose` returned."""
    names, attributes = result["layer"].values.tolist(), result.attrs
    longest = max(len(name) for name in names)
    upwards = longest > _ABREAST
    size = max(6.5, 2.0 + 0.9 * len(names)), 8.4 + (0.08 * longest if upwards else 0)
    fig, axes = plt.subplots(3, 1, figsize=size, sharex=True, layout="constrained")
    reference = "what the baseline tells" if attributes["reference"] == "baseline" else "no baseline given"
    panels = (
        (_SHARES, "share of components", f"a  Shares of components, beyond reference ({reference})"),
        (_DIMENSIONS, "dimensions", "b  Dimensions by variance, and those that both share"),
        (_RATIOS, "ratio", "c  Ratios by variance, as the paper has them"),
    )
    places = np.arange(len(names))
    for ax, (quantities, unit, title) in zip(axes, panels, strict=True):
        for shift, (quantity, label) in zip((-0.15, 0, 0.15), quantities.items(), strict=True):
            (points,) = ax.plot(places + shift, np.maximum(result[quantity], _LOWEST), "o", label=label, clip_on=False)
            if quantity in WITH_INTERVALS:  # they may lie off the point where samples are few
                low, high = (np.maximum(result[f"{quantity}_{end}"], _LOWEST) for end in ("low", "high"))
                ax.vlines(places + shift, low, high, color=points.get_color(), linewidth=1.2)
        ax.set_title(title, loc="left", fontsize="medium")
        ax.set_ylabel(unit)
    shares, dimensions, ratios = axes
    shares.axhline(attributes["most"], color="0.6", linewidth=0.8, linestyle=":")
    shares.axhline(0, color="0.8", linewidth=0.8, zorder=0)
    shares.set_ylim(_LOWEST, 1.08)
    dimensions.set_ylim(bottom=0)
    ratios.plot(places + 0.15, result["cka_reference"], "_", color="0.4", markersize=14, label="CKA, unrelated")
    ratios.set_ylim(0, max(ratios.get_ylim()[1], 1.2))
    for ax in axes:
        ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    labels = [f"{name}\n{regime}" for name, regime in zip(names, result["regime"].values, strict=True)]
    ratios.set_xticks(places, labels, rotation=90 if upwards else 0, size="small")
    ratios.set_xlim(-0.6, len(names) - 0.4)
    fig.suptitle(
        f"What finetuning did to the features (bars: {attributes['confidence']:.0%} intervals;\n"
        f"dotted: {attributes['most']:g} of the components, from which on they count as inherited, or kept)",
        fontsize="medium",
    )
    return fig
