"""The penalty that finetuned ReLU networks minimise, and what they find (Fig. 1 of "Implicit penalty …").

A figure takes {role: xarray dataset over `run`} and its options `p`, and returns a Matplotlib figure. PT+FT is
finetuning, STL single-task and MTL multi-task learning. R̃ is the penalty of finetuning.
"""

from functools import partial
from itertools import cycle, product
from typing import Literal

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from pydantic import PositiveInt

from carryover.analysis.relu import FLOOR, UNFITTED
from carryover.analysis.run_tables import evenly_spaced, match_runs
from carryover.analysis.transferability import pair_runs
from carryover.config import plugins
from carryover.config.parameters import parameter
from carryover.figures.drawing import layout, panels
from carryover.figures.relu_features import ONE, group_by_cosines
from carryover.figures.titled import Titled
from carryover.runs import run_mask, select_runs

RISKS = "risk_found", "risk_predicted"  # of networks, and of the function of least penalty


class ReluPenalty(Titled):
    quantity: Literal["penalty", "exponent"] = parameter("penalty", "the penalty itself, or d log r / d log m")


@plugins.figure(data=["curve"])
def relu_penalty(data, p: ReluPenalty):
    """Penalty of a finetuned ReLU unit, or its local exponent, against the unit's magnitude (Fig. 1a, b).

    Role: `curve` of curves.relu_penalty. The diagonal network's penalty, and a panel per cosine ρ from 1 down; one
    curve per auxiliary magnitude.
    """
    meanings = {0.01: " (new)", 1.0: " (used alike)", 100.0: " (used far more)"}
    grey = {"color": "0.6", "linewidth": 0.8, "linestyle": ":", "zorder": 0}
    curve = data["curve"]
    shown = {"diagonal network, Q": curve[f"diagonal_{p.quantity}"]}
    shown |= {f"ReLU, ρ = {rho:g}": curve[p.quantity].sel(correlation=rho)
              for rho in sorted(curve["correlation"].values, reverse=True)}  # fmt: skip
    fig, axes = plt.subplots(1, len(shown), figsize=(2.1 * len(shown), 3.3), sharey=True, squeeze=False)
    magnitudes = curve["auxiliary_magnitude"].values
    for ax, (title, lines) in zip(axes[0], shown.items(), strict=True):
        for auxiliary, color in zip(magnitudes, panels.colors("auxiliary_magnitude", magnitudes), strict=True):
            label = f"$m^{{aux}}$ = {auxiliary:g}{meanings.get(auxiliary, '')}"
            ax.plot(curve["magnitude"], lines.sel(auxiliary_magnitude=auxiliary), color=color, label=label)
        ax.set(xscale="log", title=title, xlabel="magnitude m")
        ax.axvline(1, **grey)
    if p.quantity == "penalty":
        axes[0, 0].set(yscale="log", ylabel="penalty Q or $\\tilde r$")
        return layout.finish(fig, p.title)
    axes[0, 0].set_ylabel("d log penalty / d log m")
    axes[0, 0].set_yticks((0, 0.5, 1, 1.5, 2), ("0", "0.5", "1 (ℓ1)", "1.5", "2 (ℓ2)"))
    for ax, exponent in product(axes[0], (1, 2)):
        ax.axhline(exponent, **grey)
    return layout.finish(fig, p.title)


class ReluDisplacement(Titled):
    samples: tuple[PositiveInt, ...] = parameter((128, 256, 512), "main-task samples of the risks that are predicted")


@plugins.figure(data=["overlap", "nested", "magnitude", "risk"])
def relu_displacement(data, p: ReluDisplacement):
    """How far finetuned ReLU networks are from their start, and whether what that costs tells where pretraining helps.

    Panels a–d. Roles: `displacement` of experiments `overlap`, `nested` and `magnitude`, and `risk` of the last.
    """
    overlap, nested, moved = (data[role] for role in ("overlap", "nested", "magnitude"))
    shared, some = (
        panels.relative(runs, "displacement", "penalty") for runs in (overlap, select_runs(nested, rescale=1.0))
    )
    by_magnitude = panels.columns(panels.relative(moved, "penalty"), "magnitude", "magnitude {:g}")
    cosines = panels.curves_by(moved, "correlation", label="ρ = {:g}".format)
    counts = evenly_spaced(panels.values(some, "main_features"), 2)
    by_count = panels.curves_by(some, "main_features", "overlap", main_features=counts, overlap=(1.0, 0.0),
                                label=lambda k, overlap: f"{k:g} {'of the units' if overlap else 'new'}")  # fmt: skip
    cell = ["samples", "correlation", "magnitude"]
    risks, costs = pair_runs(data["risk"], "finetuning", "risk_final"), moved["penalty_new"] / moved["penalty_paired"]
    gains = (risks["scratch"] / risks["risk_final"]).groupby([risks[name] for name in cell])
    # By cell: median and range over seeds of the gain in risk, and the median cost of new units over pretrained ones.
    cells = gains.agg(["median", "min", "max"]).assign(cost=costs.to_dataframe("cost").groupby(cell)["cost"].median())

    def draw_predictions(ax, runs):
        """Panel d, at the number of samples of `runs`: gain in risk (median and range over seeds) against gain in
        penalty, a point per cosine (colour) and magnitude (marker)."""
        colors = {condition["correlation"]: style["color"] for condition, _, style in cosines}
        markers = choose_markers(panels.values(moved, "magnitude"))
        for (rho, magnitude), cell in cells.loc[runs["samples"].values[0]].iterrows():
            gain = [[cell["median"]], [cell["min"]], [cell["max"]]]
            panels.points(ax, [cell["cost"]], gain, color=colors[rho], marker=markers[magnitude], linestyle="")
        name_points(ax, cosines, markers, "magnitude {:g}")
        ax.axhline(1, **ONE)
        ax.axvline(1, **ONE)
        ax.set(xscale="log", yscale="log", xlabel="R̃ of new units over that of pretrained ones")

    above = "c  Penalty R̃ of what is learned over that of the teacher, by cosine ρ"
    gained = "d  Gain in risk against gain in penalty, by cosine ρ and magnitude"
    rows = [
        [layout.curves("a  Squared distance over the least", {"": shared}, "displacement", "samples",
                       group_by_cosines(shared, 4), "‖w − w₀‖² / R̃"),
         layout.curves("b  The same, nested tasks", {"": some}, "displacement", "samples", by_count, ""),
         layout.curves(above, by_magnitude, "penalty", "samples", cosines, "R̃ / R̃ of the teacher",
                       ylim=(0, None), truth=1)],
        [layout.group(gained, panels.columns(moved, chosen=p.samples), draw_predictions, "risk of STL over PT+FT")],
    ]  # fmt: skip
    note = panels.describe_spread({role: data[role] for role in ("overlap", "nested", "magnitude")})
    return layout.compose(rows, p.title, f"{note} (a–c)", "d: medians and ranges")


@plugins.figure(data=["least", "spread"])
def relu_least_penalty(data, p: Titled):
    """ReLU networks compared with the function of least penalty: risks, penalties, gains, rotations of weights.

    Panels a–d. Roles: the measure `least_penalty`, `least` of networks finetuned and from scratch, and `spread` of
    networks finetuned after their pretrained weights were rotated apart.
    """
    networks = sum(data[role].sizes["run"] for role in ("least", "spread"))
    runs, spread = (data[role].isel(run=data[role]["unfitted"].values <= UNFITTED) for role in ("least", "spread"))
    left_out = networks - runs.sizes["run"] - spread.sizes["run"]
    runs = runs.assign({name: runs[name].clip(FLOOR) for name in RISKS})
    scratch, tuned = (select_runs(runs, protocol=protocol) for protocol in ("single_task", "finetuning"))
    both = match_runs(tuned[list(RISKS)], scratch[list(RISKS)], ["protocol"])
    gain, gain_predicted = (("run", both[f"{risk}_other"] / both[risk]) for risk in RISKS)
    tuned = tuned.assign(gain=gain, gain_predicted=gain_predicted)
    cosines = panels.curves_by(tuned, "correlation", label="ρ = {:g}".format)
    turning = tuned.isel(run=tuned["correlation"] < 1)  # units at 1 need not turn, and axes are logarithmic

    # Curves of a and b. Grey, since the colour of training from scratch in other figures is that of a cosine.
    curves = [({"protocol": "single_task"}, "STL", {"color": "0.55"})]
    curves += [({**at, "protocol": "finetuning"}, f"PT+FT, {label}", style) for at, label, style in cosines]
    spread = spread.assign_coords(protocol=("run", np.full(spread.sizes["run"], "turned_apart")))
    turned = [({"protocol": "turned_apart", "correlation": rho}, f"ρ = {rho:g}, turned apart",
               {"color": "#CC3311", "markersize": 7}) for rho in panels.values(spread, "correlation")]  # fmt: skip

    def risks(ax, part):
        """Panel a: the risk of each network against that of the function of least penalty; a colour per curve, a marker
        per magnitude, and a dotted diagonal where both are equal."""
        markers = choose_markers(panels.values(runs, "magnitude"))
        for (condition, _, style), (magnitude, marker) in product(curves, markers.items()):
            cell = part.isel(run=run_mask(part, **condition, magnitude=magnitude))
            ax.plot(cell["risk_predicted"], cell["risk_found"], marker, markersize=3, alpha=0.7, color=style["color"])
        name_points(ax, curves, markers, "magnitude {:g}")
        ax.axline((0.1, 0.1), (1, 1), **ONE)
        ax.set(xscale="log", yscale="log", xlabel="function of least penalty")

    def penalties(ax, part):
        """Panel b: the penalty over the least possible one against magnitude; the dotted line is that minimum, 1."""
        panels.curves(ax, part, "penalty", "magnitude", [*curves, *turned], 0.25)
        ax.set_yscale("log")
        layout.plain_decades(ax.yaxis)
        ax.axhline(1, **ONE)

    def draw_comparison(ax, part, trained, predicted):
        """Panels c and d: the variable `trained` of the runs `part` against magnitude, a colour per cosine; dashed, the
        median of the variable `predicted`, the same quantity of the function of least penalty."""
        panels.curves(ax, part, trained, "magnitude", cosines, 0.25)
        for condition, _, style in cosines:
            at_cosine = part.isel(run=run_mask(part, **condition))
            ax.plot(panels.medians(at_cosine, predicted, "magnitude"), color=style["color"], linestyle="--", marker="x")
        ax.set_yscale("log")
        if trained == "gain":
            ax.axhline(1, **ONE)  # as good as from scratch

    gains = partial(draw_comparison, trained="gain", predicted="gain_predicted")
    turns = partial(draw_comparison, trained="rotation", predicted="rotation_predicted")
    over_least = panels.relative(xr.concat([runs, spread], "run"), "penalty", "penalty_least")
    # One panel alone is as wide as two, for its texts.
    group = partial(layout.group, width=max(2, len(panels.values(runs, "samples"))))
    rows = [
        [group("a  Risk over the teacher's mean square", panels.columns(runs), risks, "network that is found"),
         group("b  Penalty R̃ of what is found over the least", panels.columns(over_least), penalties, "R̃ / least R̃",
               "magnitude")],
        [group("c  Risk from scratch over risk after pretraining", panels.columns(tuned), gains,
               "risk of STL over PT+FT", "magnitude"),
         group("d  Turn of the pretrained weights, mean of 1 − cosine", panels.columns(turning), turns, "1 − cosine",
               "magnitude")],
    ]  # fmt: skip
    notes = (
        f"{panels.describe_spread(data, 'bars')} (b–d)",
        "a: single networks",
        "dashed: function of least penalty",
        f"risks below {FLOOR:g} are drawn as that",
        f"{left_out} of {networks} networks are left out, which do not fit their samples",
    )
    return layout.compose(rows, p.title, *notes)


def choose_markers(values):
    """{value: marker} of points."""
    return dict(zip(values, cycle(("v", "s", "o", "D", "^", "P", "X", "<", ">")), strict=False))


def name_points(ax, curves, markers, words):
    """Add legend entries for points in the colours of `curves` with {value: marker}; `words` is a format of a value."""
    for value, marker in markers.items():
        ax.plot([], [], marker, color="0.4", label=words.format(value))
    for _, label, style in curves:
        ax.plot([], [], color=style["color"], linewidth=4, label=label)
