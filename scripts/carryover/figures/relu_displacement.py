"""How far finetuned ReLU networks are from their start, and whether what that costs tells where pretraining helps."""

import numpy as np

from carryover.figures.drawing import layout, panels, relu
from carryover.runs import where

MARKERS = ("v", "s", "o", "D", "^")


def draw(data, p):
    """Panels a–d. Roles: `displacement` of experiments `overlap`, `nested` and `magnitude`, and `risk` of the last."""
    overlap, nested, moved = relu.trained(data, "overlap", "nested", "magnitude")
    nested = where(nested, rescale=1.0)
    magnitudes = {value: f"magnitude {value:g}" for value in panels.values(moved, "magnitude")}
    cosines = {rho: f"ρ = {rho:g}" for rho in panels.values(moved, "correlation")}

    def excess(ax, runs):
        """Panels a and b."""
        ratio = panels.relative(runs, "displacement", "penalty")
        if runs is overlap:
            panels.curves(ax, ratio, "displacement", "samples", "unit_correlations", relu.related(runs, 4))
        else:
            features = panels.some(panels.values(runs, "main_features"), 2)
            for count, grey in zip(features, np.linspace(0.1, 0.6, len(features)), strict=True):
                for share, style, label in ((0.0, "--", "new"), (1.0, "-", "of the units")):
                    part, look = where(ratio, main_features=count, overlap=share), {"color": f"{grey:g}", "ls": style}
                    panels.spread(ax, part, "displacement", "samples", f"{count:g} {label}", **look)
        layout.name_values(ax, runs, "samples")
        layout.panel_legend(ax, loc="upper left")
        ax.update_datalim([(ax.dataLim.x1, 1.6 * ax.dataLim.y1 - 0.6)])  # room for the legend
        ax.autoscale_view()

    def over_teacher(ax, runs):
        """Panel c."""
        panels.curves(ax, panels.relative(runs, "penalty"), "penalty", "samples", "correlation", cosines)
        ax.axhline(1, **relu.ONE)

    def predicted(ax, runs):
        """Panel d."""
        for rho, part, color in panels.colored(runs, "correlation"):
            for magnitude, marker in zip(panels.values(part, "magnitude"), MARKERS, strict=False):
                cell = where(part, magnitude=magnitude)
                same = {"samples": cell["samples"].values[0], "correlation": rho, "magnitude": magnitude}
                scratch, tuned = (where(data["risk"], protocol=protocol, **same).sortby("seed")["risk_final"].values
                                  for protocol in ("single_task", "finetuning"))  # fmt: skip
                cost, gains = np.median(cell["penalty_new"] / cell["penalty_paired"]), scratch / tuned
                ends = np.median(gains), gains.min(), gains.max()
                panels.points(ax, [cost], [[end] for end in ends], color=color, marker=marker, linestyle="")
            ax.plot([], [], "-", color=color, linewidth=4, label=cosines[rho])
        for label, marker in zip(magnitudes.values(), MARKERS, strict=False):
            ax.plot([], [], marker, color="0.4", label=label)
        ax.axhline(1, **relu.ONE)
        ax.axvline(1, **relu.ONE)
        ax.set(xscale="log", yscale="log", xlabel="R̃ of new units over that of pretrained ones")

    least = "Squared distance over the least for the same function"
    above = "c  Penalty R̃ of what is learned over that of the teacher, by cosine ρ"
    by_magnitude = panels.by_value(moved, "magnitude", "magnitude {:g}")
    gained = "d  Gain in risk against gain in penalty, by cosine ρ and magnitude"
    rows = [
        [layout.group(least, {"a  shared and new": overlap, "b  nested": nested}, excess, "‖w − w₀‖² / R̃"),
         layout.group(above, by_magnitude, over_teacher, "R̃ / R̃ of the teacher", "samples")],
        [layout.group(gained, panels.by_samples(moved, p.samples), predicted, "risk of STL over PT+FT")],
    ]  # fmt: skip
    note = relu.spread_in_words({role: data[role] for role in ("overlap", "nested", "magnitude")})
    return layout.compose(rows, p.title, f"{note} (a–c)", "d: medians and ranges")
