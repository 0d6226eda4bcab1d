"""How far finetuned ReLU networks are from their start, and whether what that costs tells where pretraining helps."""

import numpy as np

from carryover.figures.drawing import layout, log_axes, panels, relu
from carryover.runs import where

DRAWN = {
    "overlap": ("displacement", "penalty", "samples", "unit_correlations"),
    "nested": ("displacement", "penalty", "samples", "main_features", "overlap", "rescale"),
    "magnitude": ("penalty", "penalty_teacher", "penalty_paired", "samples", "correlation", "magnitude"),
}
MARKERS = ("v", "s", "o", "D", "^")
ONE = {"color": "0.3", "linewidth": 1, "linestyle": ":"}


def draw(data, p):
    """Panels a–d. Roles: `displacement` of the experiments `overlap`, `nested` and `magnitude`, and `risk` of the last.

    Raises UserError where one of them lacks what is drawn.
    """
    shown = relu.trained({role: data[role] for role in DRAWN}, DRAWN)
    overlap, nested, moved = (shown[role] for role in DRAWN)
    magnitudes = {value: f"magnitude {value:g}" for value in panels.values(moved, "magnitude")}
    cosines = {rho: f"ρ = {rho:g}" for rho in panels.values(moved, "correlation")}

    def excess(figure):
        """Panels a and b."""
        axes = layout.row(figure, 2, "Squared distance over the least for the same function")
        unscaled, related = where(nested, rescale=1.0), relu.some(relu.related(overlap))
        over_least = panels.relative(overlap, "displacement", "penalty")
        panels.curves(axes[0], over_least, "displacement", "samples", "unit_correlations", related)
        ends = relu.some({features: features for features in panels.values(unscaled, "main_features")}, 2)
        for features, grey in zip(ends, np.linspace(0.1, 0.6, len(ends)), strict=True):
            for share, style in ((0.0, "--"), (1.0, "-")):
                part = where(unscaled, main_features=features, overlap=share)
                runs, label = panels.relative(part, "displacement", "penalty"), "of the units" if share else "new"
                look = {"color": f"{grey:g}", "linestyle": style}
                panels.spread(axes[1], runs, "displacement", "samples", f"{features:g} {label}", **look)
        titles = "a  shared and new", "b  nested"
        for ax, runs, title in zip(axes, (overlap, unscaled), titles, strict=True):
            log_axes.named(ax, panels.values(runs, "samples"), 2)
            ax.set(title=title, xlabel="main-task samples n")
            layout.panel_legend(ax, loc="upper left")
        axes[0].set_ylabel("‖w − w₀‖² / R̃")
        axes[0].set_ylim(top=1.6 * axes[0].get_ylim()[1] - 0.6)  # room for the legends

    def over_teacher(figure):
        """Panel c."""
        title = "c  Penalty R̃ of what is learned over that of the teacher, by cosine ρ"
        axes, ratio = layout.row(figure, len(magnitudes), title), panels.relative(moved, "penalty")
        relu.facets(axes, ratio, "penalty", "samples", "magnitude", magnitudes, "correlation", cosines)
        for ax in axes:
            ax.axhline(1, **ONE)
        relu.share_axes(axes, moved, "samples", "R̃ / R̃ of the teacher")

    def predicted(figure):
        """Panel d."""
        axes = layout.row(figure, len(p.samples), "d  Gain in risk against gain in penalty, by cosine ρ and magnitude")
        for ax, n in zip(axes, p.samples, strict=True):
            for rho, part, color in panels.colored(where(moved, samples=n), "correlation"):
                for magnitude, marker in zip(panels.values(part, "magnitude"), MARKERS, strict=False):
                    cell = where(part, magnitude=magnitude)
                    gains = _gains(data["risk"], samples=n, correlation=rho, magnitude=magnitude)
                    cost, gain = np.median(cell["penalty_new"] / cell["penalty_paired"]), np.median(gains)
                    ends = [[gain - gains.min()], [gains.max() - gain]]
                    ax.errorbar(float(cost), gain, ends, color=color, marker=marker, linestyle="")
            ax.axhline(1, **ONE)
            ax.axvline(1, **ONE)
            ax.set(xscale="log", yscale="log", title=f"n = {n:g}", xlabel="R̃ of new units over that of pretrained ones")
        axes[0].set_ylabel("risk of STL over PT+FT")
        for rho, _, color in panels.colored(moved, "correlation"):
            axes[0].plot([], [], "-", color=color, linewidth=4, label=cosines[rho])
        for label, marker in zip(magnitudes.values(), MARKERS, strict=False):
            axes[0].plot([], [], marker, color="0.4", label=label)

    rows = [[(2, excess), (len(magnitudes), over_teacher)], [(len(p.samples), predicted)]]
    return layout.compose(rows, p.title, f"{relu.spread_of(shown)} (a–c)", "d: medians and ranges")


def _gains(risk, **condition):
    """(seeds,) risks of STL over those of PT+FT, seed by seed."""
    scratch, tuned = (where(risk, protocol=protocol, **condition).sortby("seed")["risk_final"].values
                      for protocol in ("single_task", "finetuning"))  # fmt: skip
    return scratch / tuned
