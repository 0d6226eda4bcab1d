"""How few features ReLU networks make use of, and whether they are the teacher's (Fig. 6 of feature reuse)."""

from functools import partial

import xarray as xr
from matplotlib.ticker import MaxNLocator

from carryover.figures.drawing import layout, log_axes, panels, relu
from carryover.runs import chosen, where

ALIGNMENT, TOP = "alignment with the teacher", 1.03
SHARING = {"finetuning": "c", "multi_task": "d"}
DRAWN = {
    "regimes": ("inertia", "alignment", "samples", "main_features", "initial_scale"),
    "overlap": ("inertia", "alignment", "samples", "unit_correlations"),
    "nested": ("inertia", "alignment", "samples", "main_features", "overlap", "rescale"),
}


def draw(data, p):
    """Panels a–g. Roles, some or all: `regimes` (a, b), `overlap` (c–e) and `nested` (f, g), each a `clusters` dataset.

    Raises UserError where there is none of them, one is no such dataset, or an option names what it does not have.
    """
    shown = relu.trained(data, DRAWN, p.only)
    rows = {"regimes": _regimes, "overlap": _overlap, "nested": _nested}
    return layout.compose([rows[role](runs, p) for role, runs in shown.items()], p.title, relu.spread_of(shown))


def _regimes(runs, p):
    single = where(runs, protocol="single_task")
    cells = panels.combinations(single, ("main_features", "initial_scale"))
    sparsest = where(single, main_features=panels.values(single, "main_features")[0])

    def inertias(figure):
        """Panel a."""
        axes, names = layout.row(figure, len(cells), "a  Inertia, STL"), relu.regimes(single)
        sizes = {n: f"n = {n:g}" for n in panels.values(single, "samples")}
        for ax, cell in zip(axes, cells, strict=True):
            part = where(single, **cell)
            panels.curves(ax, part, "inertia", "clusters", "samples", sizes)
            relu.to_learn(ax.axvline, cell["main_features"], part["clusters"].max())
            _clusters_axis(ax, part)
            ax.set_title(f"teacher of {cell['main_features']} units\n{names[cell['initial_scale']]}")
        _from_zero(axes, "inertia")

    def alignments(figure):
        """Panel b."""
        axes = layout.row(figure, 1, "b  Alignment, STL")
        relu.by_regime(axes[0], sparsest, "alignment")
        axes[0].set_title(f"teacher of {sparsest['main_features'].values[0]} units")
        relu.share_axes(axes, sparsest, "samples", ALIGNMENT, TOP)

    return [(len(cells), inertias), (1.5, alignments)]


def _overlap(runs, p):
    protocols = [protocol for protocol in SHARING if protocol in runs["protocol"].values]
    if p.unit_correlations:
        runs = xr.concat([where(runs, unit_correlations=text) for text in p.unit_correlations], dim="run")
    inertias = [(1.3 * len(protocols), partial(_by_cosines, runs, protocols, p))] if protocols else []
    return [*inertias, relu.by_cosines(runs, "alignment", "e  Alignment", ALIGNMENT, TOP)]


def _by_cosines(runs, protocols, p, figure):
    """Panels c and d, with a circle on each curve where there are as many clusters as features to learn."""
    letters = ", ".join(SHARING[protocol] for protocol in protocols)
    title = f"{letters}  Inertia by cosines of main with auxiliary units, n = {p.samples}"
    axes, named = layout.row(figure, len(protocols), title), relu.related(runs)
    for ax, protocol in zip(axes, protocols, strict=True):
        part, circles = where(runs, protocol=protocol, samples=p.samples), []
        for (text, name), color in zip(named.items(), panels.colors("unit_correlations", list(named)), strict=True):
            if text not in part["unit_correlations"].values:
                continue
            # Units that are auxiliary ones and those that nearly are look the same to clusters: both have to be seen.
            cosines = {*panels.cosines(text)}
            near = {} if cosines <= {0.0, 1.0} else {"linewidth": 4}
            style = {"linestyle": "--", "zorder": 3} if cosines == {1.0} else near
            cell, features = where(part, unit_correlations=text), features_to_learn(text, protocol, p)
            panels.profile(ax, cell, "inertia", "clusters", name, color=color, **style)
            if features in cell["clusters"].values:
                circles.append((features, cell["inertia"].sel(clusters=features).median()))
        style = {"color": "0.2", "markerfacecolor": "none", "markersize": 8, "label": "features to learn"}
        for circle in circles:
            ax.plot(*circle, "o", **style)
        _clusters_axis(ax, part)
        ax.set_title(panels.name(runs, "protocol", protocol))
    _from_zero(axes, "inertia")


def features_to_learn(cosines, protocol, p):
    """How many distinct features a network of the protocol has to know at the end."""
    cosines = panels.cosines(cosines)
    new = [cosine for cosine in cosines if cosine != 1]
    return p.auxiliary_features + len(new) if protocol == "multi_task" else len(cosines)


def _nested(runs, p):
    task = where(runs, main_features=p.main_features)
    subset, tuned = where(task, overlap=panels.values(task, "overlap")[-1]), where(task, protocol="finetuning")
    sizes, overlaps = relu.sizes(task, p.nested_samples), relu.overlaps(task)

    def inertias(figure):
        """Panel f."""
        overlap = panels.name(subset, "overlap", subset["overlap"].values[0])
        title = f"f  Inertia of one cluster: PT+FT and its control STL, {relu.task(task)}, {overlap}"
        axes = layout.row(figure, len(sizes), title)
        relu.facets(axes, subset.sel(clusters=1), "inertia", "rescale", "samples", sizes, "protocol")
        for ax in axes:
            log_axes.along(ax, subset, "rescale")
            ax.set_yscale("log")
        axes[0].set_ylabel("inertia at K = 1")

    def alignments(figure):
        """Panel g, with multi-task networks, which are not rescaled, as dashed lines."""
        axes = layout.row(figure, len(sizes), f"g  Alignment, PT+FT and MTL, {relu.task(task)}")
        named = {overlap: f"PT+FT, {name}" for overlap, name in overlaps.items()}
        relu.facets(axes, tuned, "alignment", "rescale", "samples", sizes, "overlap", named)
        for ax, n in zip(axes, sizes, strict=True):
            for (overlap, name), color in zip(overlaps.items(), panels.colors("overlap", list(overlaps)), strict=True):
                joint = {"protocol": "multi_task", "samples": n, "overlap": overlap}
                if chosen(task, **joint).any():
                    median = where(task, **joint)["alignment"].median()
                    ax.axhline(median, color=color, linestyle="--", label=f"MTL, {name}")
        relu.share_axes(axes, tuned, "rescale", ALIGNMENT, TOP)

    return [(len(sizes), inertias), (len(sizes), alignments)]


def _clusters_axis(ax, part):
    """Numbers of clusters; doublings where some were left out."""
    counts = part["clusters"].values
    if counts[-1] > len(counts):
        log_axes.named(ax, [count for count in counts if count & (count - 1) == 0], 2)
    else:
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("clusters K")


def _from_zero(axes, label):
    axes[0].set_ylim(0, TOP)
    axes[0].set_ylabel(label)
