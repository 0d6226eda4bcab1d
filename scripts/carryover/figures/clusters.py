"""How few features ReLU networks make use of, and whether they are the teacher's (Fig. 6 of feature reuse)."""

from functools import partial

import xarray as xr
from matplotlib.ticker import MaxNLocator

from carryover.figures.drawing import layout, log_axes, panels, relu

ALIGNMENT, TOP = "alignment with the teacher", 1.03
LEARN = "features to learn"
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
    rows = {"regimes": _regimes, "overlap": _overlap, "nested": _nested}
    shown = relu.trained(data, DRAWN, p.only)
    groups = [rows[role](runs, p) for role, runs in shown.items()]
    return layout.compose(groups, p.title, relu.spread_of(shown))


def _regimes(runs, p):
    single = panels.where(runs, protocol="single_task")
    teachers = panels.values(single, "main_features")
    cells = [(cell["main_features"], cell["initial_scale"])
             for cell in panels.combinations(single, ("main_features", "initial_scale"))]  # fmt: skip
    sparsest = panels.where(single, main_features=teachers[0])
    return [(len(cells), partial(_by_size, single, cells)), (1.5, partial(_by_regime, sparsest))]


def _by_size(single, cells, figure):
    """Panel a."""
    names = relu.regimes(single)
    axes = layout.row(figure, len(cells), "a  Inertia, STL")
    for ax, (k, scale) in zip(axes, cells, strict=True):
        part = panels.where(single, main_features=k, initial_scale=scale)
        panels.curves(ax, part, "inertia", "clusters", "samples", relu.sizes(single))
        relu.to_learn(ax.axvline, k, part["clusters"].max())
        _clusters_axis(ax, part)
        ax.set_title(f"teacher of {k} units\n{names[scale]}")
    relu.from_zero(axes, "inertia", TOP)


def _by_regime(sparsest, figure):
    """Panel b."""
    axes = layout.row(figure, 1, "b  Alignment, STL")
    relu.by_regime(axes[0], sparsest, "alignment")
    axes[0].set_title(f"teacher of {sparsest['main_features'].values[0]} units")
    relu.against_samples(axes, sparsest, ALIGNMENT, TOP)


def _overlap(runs, p):
    protocols = [protocol for protocol in SHARING if protocol in runs["protocol"].values]
    chosen = [panels.where(runs, unit_correlations=text) for text in p.unit_correlations]
    runs = xr.concat(chosen, dim="run") if chosen else runs
    inertias = [(1.3 * len(protocols), partial(_by_cosines, runs, protocols, p))] if protocols else []
    return [*inertias, relu.by_cosines(runs, "alignment", "e  Alignment", ALIGNMENT, TOP)]


def _by_cosines(runs, protocols, p, figure):
    """Panels c and d."""
    letters = ", ".join(SHARING[protocol] for protocol in protocols)
    title = f"{letters}  Inertia by cosines of main with auxiliary units, n = {p.samples}"
    axes = layout.row(figure, len(protocols), title)
    for ax, protocol in zip(axes, protocols, strict=True):
        part = panels.where(runs, protocol=protocol, samples=p.samples)
        named = relu.related(runs)
        for (text, name), color in zip(named.items(), panels.colors("unit_correlations", list(named)), strict=True):
            if text in part["unit_correlations"].values:
                cell = panels.where(part, unit_correlations=text)
                panels.profile(ax, cell, "inertia", "clusters", name, color=color, **_style(text))
        for text in relu.related(part):
            _to_learn(ax, panels.where(part, unit_correlations=text), _features(text, protocol, p))
        _clusters_axis(ax, part)
        ax.set_title(panels.name(runs, "protocol", protocol))
    relu.from_zero(axes, "inertia", TOP)


def _style(cosines):
    """Units that are auxiliary ones and those that nearly are look the same to clusters: both lines have to be seen."""
    numbers = {float(word) for word in cosines.split()}
    if numbers == {1.0}:
        return {"linestyle": "--", "zorder": 3}
    return {} if numbers <= {0.0, 1.0} else {"linewidth": 4}


def _features(cosines, protocol, p):
    """How many distinct features a network of the protocol has to know at the end."""
    cosines = [float(word) for word in cosines.split()]
    new = [cosine for cosine in cosines if cosine != 1]
    return p.auxiliary_features + len(new) if protocol == "multi_task" else len(cosines)


def _nested(runs, p):
    task = panels.where(runs, main_features=p.main_features)
    sizes = relu.rescaled_sizes(task, p.nested_samples)
    return [(len(sizes), partial(paint, task, sizes)) for paint in (_one_cluster, _by_overlap)]


def _one_cluster(task, sizes, figure):
    """Panel f."""
    subset = relu.subset(task)
    title = f"f  Inertia of one cluster: PT+FT and its control STL, {relu.task(task)}, {relu.overlap(subset)}"
    axes = layout.row(figure, len(sizes), title)
    for ax, n in zip(axes, sizes, strict=True):
        part = panels.where(subset, samples=n).sel(clusters=1)
        panels.curves(ax, part, "inertia", "rescale", "protocol")
        log_axes.rescalings(ax, subset)
        ax.set(yscale="log", title=f"n = {n}")
    axes[0].set_ylabel("inertia at K = 1")


def _by_overlap(task, sizes, figure):
    """Panel g, with multi-task networks, which are not rescaled, as dashed lines."""
    tuned, overlaps = panels.where(task, protocol="finetuning"), relu.overlaps(task)
    named = {overlap: f"PT+FT, {name}" for overlap, name in overlaps.items()}
    axes = layout.row(figure, len(sizes), f"g  Alignment, PT+FT and MTL, {relu.task(task)}")
    for ax, n in zip(axes, sizes, strict=True):
        panels.curves(ax, panels.where(tuned, samples=n), "alignment", "rescale", "overlap", named)
        for (overlap, name), color in zip(overlaps.items(), panels.colors("overlap", list(overlaps)), strict=True):
            joint = {"protocol": "multi_task", "samples": n, "overlap": overlap}
            if panels.chosen(task, **joint).any():
                median = panels.where(task, **joint)["alignment"].median()
                ax.axhline(median, color=color, linestyle="--", label=f"MTL, {name}")
        ax.set_title(f"n = {n}")
    relu.against_rescaling(axes, tuned, ALIGNMENT, TOP)


def _to_learn(ax, part, features):
    """A mark on a curve at its number of features, where the axis reaches it."""
    if features in part["clusters"].values:
        left = part["inertia"].sel(clusters=features).median()
        ax.plot(features, left, "o", color="0.2", markerfacecolor="none", markersize=8, label=LEARN)


def _clusters_axis(ax, part):
    """Numbers of clusters; doublings where some were left out."""
    counts = part["clusters"].values
    if counts[-1] > len(counts):
        log_axes.named(ax, [count for count in counts if count & (count - 1) == 0], 2)
    else:
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("clusters K")
