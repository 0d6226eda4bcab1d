"""The atlas: maps of several families of what pretraining gains, over samples and similarity, in one colour scale."""

from math import ceil

import matplotlib.pyplot as plt
import numpy as np

from carryover.claims import atlas
from carryover.figures.drawing import layout, panels

LARGEST = 1.0  # gain, log₁₀ of a ratio of risks, at which colours end
LABELLED, COLUMN_LABELS = 7, 5  # rows and columns that have a label, at most
COLUMNS = 3


def draw(data, p):
    """Roles: the maps of families, as comparisons.atlas makes them, by any names."""
    maps = []
    for pairs in data.values():
        cells = atlas.cells(atlas.by_seed(pairs))
        settings = panels.some(cells["setting"].unique(), p.settings) if p.settings else [pairs.attrs["map_shown"]]
        cells = cells[cells["setting"].isin(settings)]
        single = cells["protocol"].nunique() == 1
        for (protocol, setting), part in cells.groupby(["protocol", "setting"]):
            # Finetuning, then transfer of the features alone, then families that have only one of them.
            place = 2 if single else int(protocol != "finetuning")
            maps.append((place, pairs.attrs, protocol, setting, part))
    maps.sort(key=lambda panel: panel[0])
    rows = ceil(len(maps) / COLUMNS)
    fig, axes = plt.subplots(rows, COLUMNS, figsize=(3.1 * COLUMNS, 2.5 * rows + 1.1), squeeze=False)
    for ax, (_, *panel) in zip(axes.flat, maps, strict=False):
        image = _map(ax, *panel)
    for ax in axes.flat[len(maps) :]:
        ax.remove()
    label = f"gain: log₁₀ of risk from scratch / after transfer, cut at ±{LARGEST:g}"
    fig.colorbar(image, ax=fig.axes, label=label, shrink=0.6, extend="both", aspect=40)
    notes = "dots: gains that the seeds do not decide, the others are counted", "dotted: one sample for each parameter"
    return layout.finish(fig, p.title, *notes)


def _map(ax, about, protocol, setting, cells):
    """Draw gains in colours, dots on cells of undecided sign, and a line where the predicted gain changes its sign."""
    per_parameter = cells.groupby("samples")["samples_per_parameter"].mean()
    gain, predicted = (cells.pivot(index="row", columns="samples", values=name) for name in ("gain", "predicted"))
    undecided = cells[~cells["decided"] & cells["gain"].notna()]
    x, rows = np.arange(gain.shape[1]), np.arange(gain.shape[0])
    edges = (np.arange(size + 1) - 0.5 for size in gain.shape[::-1])  # also of a map of one row or column
    image = panels.gain_map(ax, *edges, gain.to_numpy(float), LARGEST)
    ax.plot(gain.columns.get_indexer(undecided["samples"]), undecided["row"], ".", color="0.35", markersize=2.2)
    if min(predicted.shape) > 1 and predicted.min().min() < 0 < predicted.max().max():
        clipped = predicted.clip(-LARGEST, LARGEST).where(predicted != 0)
        ax.contour(x, rows, clipped, levels=[0.0], colors="k", linewidths=1.4)
        ax.plot([], [], color="k", label="between predicted gain and loss")
    if per_parameter.min() <= 1 <= per_parameter.max():
        ax.axvline(np.interp(0, np.log(per_parameter), x), color="0.35", linewidth=0.8, linestyle=":")
    columns = x[:: ceil(len(x) / COLUMN_LABELS)]
    ax.set_xticks(columns, [f"{per_parameter.iloc[column]:.2g}" for column in columns])
    similarity = cells.groupby("row")["similarity"].mean()
    labelled = similarity.index[:: ceil(len(similarity) / LABELLED)]
    ax.set_yticks(labelled, [f"{similarity[row]:.2g}".replace("-", "−") for row in labelled])
    agrees = cells["right"].dropna()
    transfer = "finetuning" if protocol == "finetuning" else "linear transfer"
    setting_in_words = f", {about['map_setting']} {setting:g}" if about["map_setting"] else ""
    agreement = f", {agrees.sum():.0f} of {len(agrees)} as predicted" if len(agrees) else ""
    ax.set_title(f"{about['map_family']}{setting_in_words}\n{transfer}{agreement}")
    ax.set_xlabel(f"samples per {about['map_parameters_are']}")
    ax.set_ylabel(about["map_similarity_is"])
    return image
