"""Figures of a diagnosis: what became of every layer, its spectra, and its canonical correlations."""

import re
from collections.abc import Iterator
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from xarray import Dataset

_DIMENSIONS = {"participation_ratio_before": "PR before", "participation_ratio_after": "PR after", "ensd": "ENSD"}
_SHARES = {"inherited_share": "inherited", "kept_share": "kept"}
_RATIOS = {"change": "PR after / PR before", "inherited": "ENSD / PR after", "cka": "CKA"}
_TITLE: dict[str, Any] = {"loc": "left", "fontsize": "medium"}
_LOWEST = -0.5  # of shares: what is below is no more than unrelated anyway
_COLUMNS = 4  # panels in a row, of figures with a panel a layer
_ABREAST = 14  # letters of a name that fit beside those of the next layer
_ACROSS = 34  # letters that fit above a panel, and under one when written upwards


def draw(result: Dataset) -> Figure:
    """Three panels, by layer in the order of the data: bars are intervals. `result` is what `diagnose` returned."""
    layers = result["layer"].values.tolist()
    labels = [_label(name, regime) for name, regime in zip(layers, result["regime"].values, strict=True)]
    longest = max(len(line) for label in labels for line in label.splitlines())
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


def draw_spectra(result: Dataset) -> Figure:
    """A panel a layer: variances of components before and after, and along those of before that survived."""
    fig, panels = _panels(result)
    for ax, layer in panels:
        for name, label in (("variance_before", "before"), ("variance_after", "after")):
            ax.loglog(result["component"], layer[name], label=label)
        survived = layer["survived"] > result.attrs["most"]
        ax.loglog(
            result["component"].where(survived), layer["variance_surviving"], ".", color="0.3", markersize=4,
            label="after, along components\nof before that survived",
        )  # fmt: skip
        ax.set_xlabel("component")
    _finish(fig, panels, "share of variance", "Spectra before and after finetuning")
    return fig


def draw_canonical(result: Dataset) -> Figure:
    """A panel a layer: canonical correlations of the components that count, and the largest that chance suggests."""
    fig, panels = _panels(result)
    for ax, layer in panels:
        ax.plot(result["component"], layer["canonical_correlation"], ".-", label="before and after")
        if layer["canonical_reference"].notnull().any():
            ax.plot(result["component"], layer["canonical_reference"], ".-", label="baseline and after")
        ax.axhline(
            layer["chance_correlation"].item(),
            color="0.5",
            linestyle=":",
            label="largest of independent\ncomponents, by chance",
        )
        ax.set(ylim=(0, 1.05), xscale="log", xlabel="direction")
    _finish(fig, panels, "canonical correlation", "Directions that before and after share")
    return fig


def _panels(result: Dataset) -> tuple[Figure, list[tuple[Axes, Dataset]]]:
    count = result.sizes["layer"]
    columns = min(count, _COLUMNS)
    rows = -(-count // columns)
    fig, axes = plt.subplots(
        rows, columns, figsize=(2.6 * columns + 2.2, 2.5 * rows + 0.6), squeeze=False, sharey=True, layout="constrained"
    )
    for ax in axes.flat[count:]:
        ax.remove()
    return fig, list(zip(axes.flat, _layers(result), strict=False))


def _layers(result: Dataset) -> Iterator[Dataset]:
    for place in range(result.sizes["layer"]):
        yield result.isel(layer=place)


def _label(name: str, regime: str) -> str:
    """The layer's name, in lines that end at its dots where it is long, and the verdict below."""
    lines = [""]
    for part in re.split(r"(?<=[./_])", name):
        if lines[-1] and len(lines[-1]) + len(part) > _ACROSS:
            lines.append("")
        lines[-1] += part
    return "\n".join([*lines, regime])


def _finish(fig: Figure, panels: list[tuple[Axes, Dataset]], label: str, title: str) -> None:
    for ax, layer in panels:
        ax.set_title(_label(layer["layer"].item(), layer["regime"].item()), fontsize="small")
    panels[0][0].set_ylabel(label)
    handles, labels = panels[0][0].get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside right upper", fontsize="small")
    fig.suptitle(title, fontsize="medium", x=0.01, ha="left")


def _points(ax: Axes, result: Dataset, quantity: str, shift: float, label: str) -> None:
    places = np.arange(result.sizes["layer"]) + shift
    lowest = _LOWEST if quantity in _SHARES else -np.inf
    values, low, high = (np.maximum(result[f"{quantity}{end}"], lowest) for end in ("", "_low", "_high"))
    (points,) = ax.plot(places, values, "o", label=label, clip_on=False)
    ax.vlines(places, low, high, color=points.get_color(), linewidth=1.2)  # may lie off the point where samples are few
