"""How few features ReLU networks make use of, and whether they are the teacher's (Fig. 6 of feature reuse)."""

import xarray as xr
from matplotlib.ticker import MaxNLocator

from carryover.figures.drawing import layout, panels, relu
from carryover.runs import chosen, where

ALIGNMENT, TOP = "alignment with the teacher", 1.03
MAIN_FEATURES = 1  # teacher units of the nested task that is shown
AUXILIARY_FEATURES = 6  # teacher units of the auxiliary task


def draw(data, p):
    """Panels a–g. Roles: `regimes` (a, b), `overlap` (c–e) and `nested` (f, g), each a `clusters` dataset."""
    regimes, overlap, nested = relu.trained(data, "regimes", "overlap", "nested")
    rows = [_regimes(regimes), _overlap(overlap, p), _nested(where(nested, main_features=MAIN_FEATURES), p)]
    return layout.compose(rows, p.title, relu.spread_in_words(data))


def _regimes(runs):
    """Panels a and b."""
    single = where(runs, protocol="single_task")
    names, sizes = relu.regimes(single), {n: f"n = {n:g}" for n in panels.values(single, "samples")}
    columns = {f"teacher of {cell['main_features']} units\n{names[cell['initial_scale']]}": where(single, **cell)
               for cell in panels.combinations(single, ("main_features", "initial_scale"))}  # fmt: skip

    def inertias(ax, part):
        panels.curves(ax, part, "inertia", "clusters", "samples", sizes)
        relu.to_learn(ax.axvline, part["main_features"].values[0], part["clusters"].max())
        _clusters_axis(ax, part)

    def alignments(ax, part):
        relu.by_regime(ax, part, "alignment")

    least = panels.values(single, "main_features")[0]
    sparsest = {f"teacher of {least} units": where(single, main_features=least)}
    return [
        layout.group("a  Inertia, STL", columns, inertias, "inertia"),
        layout.group("b  Alignment, STL", sparsest, alignments, ALIGNMENT, "samples", TOP, width=1.5),
    ]


def _overlap(runs, p):
    """Panels c–e; on each curve of c and d a circle where there are as many clusters as features to learn."""
    if p.unit_correlations:
        runs = xr.concat([where(runs, unit_correlations=text) for text in p.unit_correlations], dim="run")
    named = relu.related(runs)
    columns = {panels.name(runs, "protocol", protocol): where(runs, protocol=protocol, samples=p.samples)
               for protocol in ("finetuning", "multi_task")}  # fmt: skip

    def inertias(ax, part):
        protocol, circles = part["protocol"].values[0], []
        for (text, name), color in zip(named.items(), panels.colors("unit_correlations", list(named)), strict=True):
            if text not in part["unit_correlations"].values:
                continue
            # Units that are auxiliary ones and those that nearly are look the same to clusters: both have to be seen.
            cosines = {*panels.cosines(text)}
            near = {} if cosines <= {0.0, 1.0} else {"linewidth": 4}
            style = {"linestyle": "--", "zorder": 3} if cosines == {1.0} else near
            cell, features = where(part, unit_correlations=text), features_to_learn(text, protocol)
            panels.profile(ax, cell, "inertia", "clusters", name, color=color, **style)
            if features in cell["clusters"].values:
                circles.append((features, cell["inertia"].sel(clusters=features).median()))
        for circle in circles:
            ax.plot(*circle, "o", color="0.2", mfc="none", ms=8, label="features to learn")
        _clusters_axis(ax, part)

    title = f"c, d  Inertia by cosines of main with auxiliary units, n = {p.samples}"
    return [
        layout.group(title, columns, inertias, "inertia", width=2.6),
        relu.by_cosines(runs, "alignment", "e  Alignment", ALIGNMENT, TOP),
    ]


def features_to_learn(cosines, protocol):
    """How many distinct features a network of the protocol has to know at the end."""
    cosines = panels.cosines(cosines)
    new = [cosine for cosine in cosines if cosine != 1]
    return AUXILIARY_FEATURES + len(new) if protocol == "multi_task" else len(cosines)


def _nested(runs, p):
    """Panels f and g, with multi-task networks, which are not rescaled, as level lines."""
    subset = where(runs, overlap=panels.values(runs, "overlap")[-1])
    overlaps, task = relu.overlaps(runs), relu.task(runs)
    named = {overlap: f"PT+FT, {name}" for overlap, name in overlaps.items()}

    def inertias(ax, part):
        panels.curves(ax, part.sel(clusters=1), "inertia", "rescale", "protocol")
        ax.set_yscale("log")
        layout.name_values(ax, part, "rescale")

    def alignments(ax, part):
        panels.curves(ax, where(part, protocol="finetuning"), "alignment", "rescale", "overlap", named)
        for (overlap, name), color in zip(overlaps.items(), panels.colors("overlap", list(overlaps)), strict=True):
            joint = {"protocol": "multi_task", "overlap": overlap}
            if chosen(part, **joint).any():
                median = where(part, **joint)["alignment"].median()
                ax.axhline(median, color=color, linestyle="--", label=f"MTL, {name}")

    title = f"f  Inertia of one cluster: PT+FT, MTL and STL, {task}, {overlaps[subset['overlap'].values[0]]}"
    one, both = (panels.by_samples(data, p.nested_samples) for data in (subset, runs))
    return [
        layout.group(title, one, inertias, "inertia at K = 1"),
        layout.group(f"g  Alignment, PT+FT and MTL, {task}", both, alignments, ALIGNMENT, "rescale", TOP),
    ]


def _clusters_axis(ax, part):
    """Numbers of clusters, doublings where some were left out, against inertias from 0."""
    counts = part["clusters"].values
    if counts[-1] > len(counts):
        layout.name_ticks(ax, [count for count in counts if count & (count - 1) == 0], 2)
    else:
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set(xlabel="clusters K", ylim=(0, TOP))
