"""Dimensions of every layer before and after finetuning, what both share, and how that compares with the criteria."""

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from xarray import Dataset

_DIMENSIONS = {"participation_ratio_before": "PR before", "participation_ratio_after": "PR after", "ensd": "ENSD"}
_RATIOS = {"change": "PR after / PR before", "inherited": "ENSD / PR after", "cka": "CKA"}


def draw(result: Dataset) -> Figure:
    """Two panels, by layer in the order of the data: bars are intervals. `result` is what `diagnose` returned."""
    layers = result["layer"].values.tolist()
    fig, (dimensions, ratios) = plt.subplots(2, 1, figsize=(max(6.0, 2.0 + 0.8 * len(layers)), 6.4), sharex=True)
    for ax, quantities in ((dimensions, _DIMENSIONS), (ratios, _RATIOS)):
        for place, (quantity, label) in enumerate(quantities.items()):
            _points(ax, result, quantity, 0.15 * (place - 1), label)
        ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    dimensions.set_ylim(bottom=0)
    ratios.set_ylim(0, max(ratios.get_ylim()[1], 1.2))
    for level in (1 - result.attrs["change"], 1 + result.attrs["change"]):
        ratios.axhline(level, color="0.6", linewidth=0.8, linestyle=":")
    dimensions.set(title="a  Dimensions, and those that both share", ylabel="dimensions")
    change = f"{result.attrs['change']:g}"
    ratios.set(title=f"b  Ratios (dotted: a change of PR by {change} of it)", ylabel="ratio")
    labels = [f"{name}\n{regime}" for name, regime in zip(layers, result["regime"].values, strict=True)]
    ratios.set_xticks(range(len(layers)), labels, rotation=30 if len(layers) > 3 else 0, ha="center")
    fig.suptitle(f"Before and after finetuning (bars: {result.attrs['confidence']:.0%} intervals)")
    return fig


def _points(ax, result, quantity, shift, label):
    places = [place + shift for place in range(result.sizes["layer"])]
    (points,) = ax.plot(places, result[quantity], "o", label=label)
    low, high = result[f"{quantity}_low"], result[f"{quantity}_high"]
    ax.vlines(places, low, high, color=points.get_color(), linewidth=1.2)  # may lie off the point where samples are few
