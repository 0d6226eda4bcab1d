"""How far finetuned ReLU networks are from their start, and whether what that costs tells where pretraining helps."""

from functools import partial

import numpy as np

from carryover.figures.drawing import layout, log_axes, panels, relu
from carryover.figures.drawing.own_legend import own_legend

DRAWN = {
    "overlap": ("displacement", "penalty", "samples", "unit_correlations"),
    "nested": ("displacement", "penalty", "samples", "main_features", "overlap", "rescale"),
    "magnitude": ("penalty", "penalty_teacher", "penalty_paired", "samples", "correlation", "magnitude"),
}
MARKERS = ("v", "s", "o", "D", "^")


def draw(data, p):
    """Panels a–d. Roles: `displacement` of the experiments `overlap`, `nested` and `magnitude`, and `risk` of the last.

    Raises UserError where one of them lacks what is drawn.
    """
    shown = relu.trained({role: data[role] for role in DRAWN}, DRAWN)
    magnitudes = panels.values(shown["magnitude"], "magnitude")
    rows = [
        [(2, partial(_excess, shown)), (len(magnitudes), partial(_of_teacher, shown["magnitude"], magnitudes))],
        [(len(p.samples), partial(_predicted, shown["magnitude"], data["risk"], p.samples))],
    ]
    return layout.compose(rows, p.title, f"{relu.spread_of(shown)} (a–c)", "d: medians and ranges")


def _excess(shown, figure):
    """Panels a and b."""
    axes = layout.row(figure, 2, "Squared distance over the least for the same function")
    overlap, nested = shown["overlap"], panels.where(shown["nested"], rescale=1.0)
    excess, related = panels.relative(overlap, "displacement", "penalty"), relu.some(relu.related(overlap))
    panels.curves(axes[0], excess, "displacement", "samples", "unit_correlations", related)
    sizes = list(relu.some({features: features for features in panels.values(nested, "main_features")}, 2))
    greys = [f"{grey:g}" for grey in np.linspace(0.1, 0.6, len(sizes))]
    for (features, part, _), color in zip(panels.colored(nested, "main_features", sizes), greys, strict=True):
        for share, style in ((0.0, "--"), (1.0, "-")):
            runs = panels.relative(panels.where(part, overlap=share), "displacement", "penalty")
            label = f"{features:g} " + ("of the units" if share else "new")
            panels.spread(axes[1], runs, "displacement", "samples", label, color=color, linestyle=style)
    for ax, runs, title in zip(axes, (overlap, nested), ("a  shared and new", "b  nested"), strict=True):
        log_axes.samples(ax, panels.values(runs, "samples"))
        ax.set(title=title, xlabel="main-task samples n")
        own_legend(ax, loc="upper left")
    axes[0].set_ylabel("‖w − w₀‖² / R̃")
    axes[0].set_ylim(top=1.6 * axes[0].get_ylim()[1] - 0.6)  # room for the legends


def _of_teacher(runs, magnitudes, figure):
    """Panel c."""
    axes = layout.row(figure, len(magnitudes), "c  Penalty R̃ of what is learned over that of the teacher, by cosine ρ")
    named = {rho: f"ρ = {rho:g}" for rho in panels.values(runs, "correlation")}
    for ax, magnitude in zip(axes, magnitudes, strict=True):
        part = panels.relative(panels.where(runs, magnitude=magnitude), "penalty")
        panels.curves(ax, part, "penalty", "samples", "correlation", named)
        ax.axhline(1, color="0.3", linewidth=1, linestyle=":")
        ax.set_title(f"magnitude {magnitude:g}")
    relu.against_samples(axes, runs, "R̃ / R̃ of the teacher")


def _predicted(runs, risk, samples, figure):
    """Panel d."""
    axes = layout.row(figure, len(samples), "d  Gain in risk against gain in penalty, by cosine ρ and magnitude")
    for ax, n in zip(axes, samples, strict=True):
        for rho, part, color in panels.colored(panels.where(runs, samples=n), "correlation"):
            for (magnitude, cell, _), marker in zip(panels.colored(part, "magnitude"), MARKERS, strict=False):
                gains = _gains(risk, samples=n, correlation=rho, magnitude=magnitude)
                middle = np.median(gains)
                ax.errorbar(
                    float(np.median(cell["penalty_new"] / cell["penalty_paired"])), middle,
                    [[middle - gains.min()], [gains.max() - middle]], color=color, marker=marker, linestyle="",
                )  # fmt: skip
        for line in (ax.axhline, ax.axvline):
            line(1, color="0.3", linewidth=1, linestyle=":")
        ax.set(xscale="log", yscale="log", title=f"n = {n:g}", xlabel="R̃ of new units over that of pretrained ones")
    axes[0].set_ylabel("risk of STL over PT+FT")
    for rho, _, color in panels.colored(runs, "correlation"):
        axes[0].plot([], [], "-", color=color, linewidth=4, label=f"ρ = {rho:g}")
    for magnitude, marker in zip(panels.values(runs, "magnitude"), MARKERS, strict=False):
        axes[0].plot([], [], marker, color="0.4", label=f"magnitude {magnitude:g}")


def _gains(risk, **condition):
    """(seeds,) risks of STL over those of PT+FT, seed by seed."""
    of = {name: panels.where(risk, protocol=name, **condition).sortby("seed") for name in ("single_task", "finetuning")}
    return of["single_task"]["risk_final"].values / of["finetuning"]["risk_final"].values
