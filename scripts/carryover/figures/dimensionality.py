"""How many dimensions ReLU networks respond in, before and after finetuning (Fig. 8 of feature reuse)."""

from functools import partial

from carryover.figures.drawing import layout, panels, relu

RATIO = "participation ratio"
COMPARED = {"participation_ratio": "after: PR", "ensd": "shared: ENSD"}
DRAWN = {
    "regimes": ("participation_ratio", "samples", "main_features", "initial_scale"),
    "overlap": ("participation_ratio", "samples", "unit_correlations"),
    "nested": (*COMPARED, "participation_ratio_start", "samples", "main_features", "overlap", "rescale"),
}


def draw(data, p):
    """Panels a–c. Roles, some or all, each a `dimensionality` dataset: `regimes` (a), `nested` (b, c), and `overlap`,
    drawn beside a, for what Fig. 8 does not show: main tasks of new and of shared features.

    Raises UserError where there is none of them, one is no such dataset, or an option names what it does not have.
    """
    shown = relu.trained(data, DRAWN, p.only)
    scratch = {"regimes": _regimes, "overlap": _overlap}
    rows = [[draw_role(shown[role]) for role, draw_role in scratch.items() if role in shown]]
    if "nested" in shown:
        rows.append(_nested(shown["nested"], p))
    return layout.compose([row for row in rows if row], p.title, relu.spread_of(shown))


def _regimes(runs):
    single = panels.where(runs, protocol="single_task")
    return len(panels.values(single, "main_features")), partial(_by_regime, single)


def _by_regime(single, figure):
    """Panel a."""
    teachers = panels.values(single, "main_features")
    axes = layout.row(figure, len(teachers), "a  After training, STL")
    for ax, k in zip(axes, teachers, strict=True):
        part = panels.where(single, main_features=k)
        relu.by_regime(ax, part, "participation_ratio")
        ax.set_title(f"teacher of {k} units")
    relu.against_samples(axes, single, RATIO)
    for ax, k in zip(axes, teachers, strict=True):
        relu.to_learn(ax.axhline, k, ax.get_ylim()[1])


def _overlap(runs):
    title = "After training, by cosines of main with auxiliary units"
    return relu.by_cosines(runs, "participation_ratio", title, RATIO)


def _nested(runs, p):
    tuned = panels.where(runs, protocol="finetuning", main_features=p.main_features)
    sizes = relu.rescaled_sizes(tuned, p.nested_samples)
    return [(len(sizes), partial(_by_overlap, tuned, sizes)), (len(COMPARED), partial(_before_and_after, tuned, sizes))]


def _by_overlap(tuned, sizes, figure):
    """Panel b."""
    axes = layout.row(figure, len(sizes), f"b  After finetuning, {relu.task(tuned)}")
    for ax, n in zip(axes, sizes, strict=True):
        part = panels.where(tuned, samples=n)
        panels.level(ax, part, "participation_ratio_start", "before finetuning", color="0.4", linestyle="--")
        panels.curves(ax, part, "participation_ratio", "rescale", "overlap", relu.overlaps(tuned))
        ax.set_title(f"n = {n}")
    relu.against_rescaling(axes, tuned, RATIO)
    for ax in axes:
        relu.to_learn(ax.axhline, tuned["main_features"].values[0], ax.get_ylim()[1])


def _before_and_after(tuned, sizes, figure):
    """Panel c."""
    subset = relu.subset(tuned)
    title = f"c  Finetuning, {relu.task(subset)}, {relu.overlap(subset)}"
    axes = layout.row(figure, len(COMPARED), title)
    named = relu.some({n: name for n, name in relu.sizes(tuned).items() if n in sizes}, 2)  # others lie between
    shared = panels.colors("overlap", panels.values(tuned, "overlap"))[-1]  # as in b
    for ax, (quantity, name) in zip(axes, COMPARED.items(), strict=True):
        panels.level(ax, subset, "participation_ratio_start", "before finetuning: PR", color="0.4", linestyle="--")
        for (n, label), style in zip(named.items(), (":", "-"), strict=False):
            part = panels.where(subset, samples=n)
            panels.spread(ax, part, quantity, "rescale", label, color=shared, linestyle=style)
        ax.set_title(name)
    relu.against_rescaling(axes, tuned, "dimensions")
