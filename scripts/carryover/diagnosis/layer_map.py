"""The heat map of what `layer_similarity` returns."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from xarray import DataArray

_WRITTEN = 12  # layers up to which values are written
_NAMED = 64  # layers up to which each has its name


def draw_similarity(matrix: DataArray) -> Figure:
    """Layers before upwards, layers after to the right, in the order of the data; grey where there is no value."""
    rows, columns = matrix.shape
    cell = 0.45 if max(rows, columns) <= _WRITTEN else 0.22
    longest = [max(map(len, map(str, matrix[name].values))) for name in matrix.dims]
    size = (min(16, 2.2 + cell * columns + 0.08 * longest[0]), min(16, 1.5 + cell * rows + 0.08 * longest[1]))
    fig, ax = plt.subplots(figsize=size, layout="constrained")
    ax.set_facecolor("0.8")
    ax.grid(False)
    image = ax.imshow(matrix.values, origin="lower", cmap="viridis", vmin=0, vmax=1, aspect="equal")
    _names(ax.set_xticks, matrix["layer_after"].values, rotation=90 if longest[1] > 3 else 0)
    _names(ax.set_yticks, matrix["layer_before"].values)
    ax.set(xlabel="layer after", ylabel="layer before")
    if max(rows, columns) <= _WRITTEN:
        for (row, column), value in np.ndenumerate(matrix.values):
            colour = "white" if value < 0.6 else "black"
            if np.isfinite(value):
                ax.text(column, row, f"{value:.2f}", ha="center", va="center", size=7, color=colour)
    name = matrix.attrs.get("long_name", "CKA")
    fig.colorbar(image, label=name, extend="min" if (matrix.values < 0).any() else "neither", shrink=0.9)
    fig.suptitle("Similarity of layers before and after")
    return fig


def _names(ticks, names, **how):
    """Every layer's name, or of very many the names of evenly spaced ones."""
    shown = range(0, len(names), -(-len(names) // _NAMED))
    ticks(shown, [str(names[index]) for index in shown], size=8 if len(names) <= _WRITTEN else 7, **how)
