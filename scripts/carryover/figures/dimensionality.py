"""How many dimensions ReLU networks respond in, before and after finetuning (Fig. 8 of feature reuse)."""

from carryover.figures.drawing import layout, panels, relu
from carryover.runs import where

RATIO = "participation ratio"
COMPARED = {"participation_ratio": "after: PR", "ensd": "shared: ENSD"}
DRAWN = {
    "regimes": ("participation_ratio", "samples", "main_features", "initial_scale"),
    "overlap": ("participation_ratio", "samples", "unit_correlations"),
    "nested": (*COMPARED, "participation_ratio_start", "samples", "main_features", "overlap", "rescale"),
}
BEFORE = {"color": "0.4", "linestyle": "--"}


def draw(data, p):
    """Panels a–c. Roles, some or all, each a `dimensionality` dataset: `regimes` (a), `nested` (b, c), and `overlap`,
    drawn beside a, for what Fig. 8 does not show: main tasks of new and of shared features.

    Raises UserError where there is none of them, one is no such dataset, or an option names what it does not have.
    """
    shown = relu.trained(data, DRAWN, p.only)
    above = [_regimes(shown["regimes"])] if "regimes" in shown else []
    if "overlap" in shown:
        title = "After training, by cosines of main with auxiliary units"
        above.append(relu.by_cosines(shown["overlap"], "participation_ratio", title, RATIO))
    rows = [above, _nested(shown["nested"], p) if "nested" in shown else []]
    return layout.compose([row for row in rows if row], p.title, relu.spread_of(shown))


def _regimes(runs):
    """Panel a."""
    single = where(runs, protocol="single_task")
    teachers = panels.values(single, "main_features")

    def ratios(figure):
        axes = layout.row(figure, len(teachers), "a  After training, STL")
        for ax, k in zip(axes, teachers, strict=True):
            relu.by_regime(ax, where(single, main_features=k), "participation_ratio")
            ax.set_title(f"teacher of {k} units")
        relu.share_axes(axes, single, "samples", RATIO)
        for ax, k in zip(axes, teachers, strict=True):
            relu.to_learn(ax.axhline, k, ax.get_ylim()[1])

    return len(teachers), ratios


def _nested(runs, p):
    tuned = where(runs, protocol="finetuning", main_features=p.main_features)
    sizes = relu.sizes(tuned, p.nested_samples)

    def by_overlap(figure):
        """Panel b."""
        axes = layout.row(figure, len(sizes), f"b  After finetuning, {relu.task(tuned)}")
        for ax, n in zip(axes, sizes, strict=True):
            start = where(tuned, samples=n)
            panels.level(ax, start, "participation_ratio_start", "before finetuning", **BEFORE)
        overlaps = relu.overlaps(tuned)
        relu.facets(axes, tuned, "participation_ratio", "rescale", "samples", sizes, "overlap", overlaps)
        relu.share_axes(axes, tuned, "rescale", RATIO)
        for ax in axes:
            relu.to_learn(ax.axhline, tuned["main_features"].values[0], ax.get_ylim()[1])

    def before_and_after(figure):
        """Panel c."""
        overlaps = panels.values(tuned, "overlap")
        subset, shared = where(tuned, overlap=overlaps[-1]), panels.colors("overlap", overlaps)[-1]  # as in b
        title = f"c  Finetuning, {relu.task(subset)}, {panels.name(subset, 'overlap', overlaps[-1])}"
        axes = layout.row(figure, len(COMPARED), title)
        for ax, (quantity, name) in zip(axes, COMPARED.items(), strict=True):
            panels.level(ax, subset, "participation_ratio_start", "before finetuning: PR", **BEFORE)
            extremes = relu.some(dict(sorted(sizes.items())), 2)  # others lie between
            for (n, label), style in zip(extremes.items(), (":", "-"), strict=False):
                part = where(subset, samples=n)
                panels.spread(ax, part, quantity, "rescale", label, color=shared, linestyle=style)
            ax.set_title(name)
        relu.share_axes(axes, tuned, "rescale", "dimensions")

    return [(len(sizes), by_overlap), (len(COMPARED), before_and_after)]
