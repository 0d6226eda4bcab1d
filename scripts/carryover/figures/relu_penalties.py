"""The penalty that finetuned ReLU networks minimise, and what they find (Fig. 1 of "Implicit penalty …")."""

from functools import partial
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr

from carryover.claims.relu_penalty import FLOOR, UNFITTED
from carryover.claims.support.runs import matched
from carryover.claims.support.transferability import paired
from carryover.figures.drawing import layout, panels
from carryover.figures.relu_features import ONE, related, trained
from carryover.runs import chosen, where

RISKS = "risk_found", "risk_predicted"  # of networks, and of the function of least penalty


def relu_penalty(data, p):
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
    axes[0, 0].set(ylabel="d log penalty / d log m", yticks=(0, 0.5, 1, 1.5, 2))
    for exponent, label in ((1, "ℓ1"), (2, "ℓ2")):
        for ax in axes[0]:
            ax.axhline(exponent, **grey)
        place = {"xy": (1.03, exponent), "xycoords": ("axes fraction", "data")}  # beside the last panel
        axes[0, -1].annotate(label, va="center", color="0.4", **place)
    return layout.finish(fig, p.title)


def relu_displacement(data, p):
    """How far finetuned ReLU networks are from their start, and whether what that costs tells where pretraining helps.

    Panels a–d. Roles: `displacement` of experiments `overlap`, `nested` and `magnitude`, and `risk` of the last.
    """
    overlap, nested, moved = trained(data, "overlap", "nested", "magnitude")
    shared, some = (panels.relative(runs, "displacement", "penalty") for runs in (overlap, where(nested, rescale=1.0)))
    by_magnitude = panels.columns(panels.relative(moved, "penalty"), "magnitude", "magnitude {:g}")
    cosines = {rho: f"ρ = {rho:g}" for rho in panels.values(moved, "correlation")}
    curves = partial(panels.curves, along="samples")
    excess = partial(curves, quantity="displacement", hue="unit_correlations", named=related(shared, 4))
    penalty = partial(curves, quantity="penalty", hue="correlation", named=cosines)

    def excess_nested(ax, runs):
        """Panel b."""
        for overlap, style, label in ((0.0, "--", "new"), (1.0, "-", "of the units")):
            named = {count: (f"{count:g} {label}", {"linestyle": style})
                     for count in panels.some(panels.values(runs, "main_features"), 2)}  # fmt: skip
            curves(ax, where(runs, overlap=overlap), "displacement", hue="main_features", named=named)

    cell = ["samples", "correlation", "magnitude"]
    risks, costs = paired(data["risk"], "finetuning", "risk_final"), moved["penalty_new"] / moved["penalty_paired"]
    gains = (risks["scratch"] / risks["risk_final"]).groupby([risks[name] for name in cell])
    cells = gains.agg(["median", "min", "max"]).assign(cost=costs.to_dataframe("cost").groupby(cell)["cost"].median())

    def predicted(ax, runs):
        """Panel d."""
        colors = dict(zip(cosines, panels.colors("correlation", cosines), strict=True))
        markers = panels.markers(panels.values(moved, "magnitude"))
        for (rho, magnitude), (*ends, cost) in cells.loc[runs["samples"].values[0]].iterrows():
            look = {"color": colors[rho], "marker": markers[magnitude], "linestyle": ""}
            panels.points(ax, [cost], [[end] for end in ends], **look)
        panels.name_points(ax, {name: colors[rho] for rho, name in cosines.items()},
                           {f"magnitude {magnitude:g}": marker for magnitude, marker in markers.items()})  # fmt: skip
        ax.axhline(1, **ONE)
        ax.axvline(1, **ONE)
        ax.set(xscale="log", yscale="log", xlabel="R̃ of new units over that of pretrained ones")

    above = "c  Penalty R̃ of what is learned over that of the teacher, by cosine ρ"
    gained = "d  Gain in risk against gain in penalty, by cosine ρ and magnitude"
    rows = [
        [layout.group("a  Squared distance over the least", {"": shared}, excess, "‖w − w₀‖² / R̃", "samples"),
         layout.group("b  The same, nested tasks", {"": some}, excess_nested, "", "samples"),
         layout.group(above, by_magnitude, penalty, "R̃ / R̃ of the teacher", "samples", (0, None), truth=1)],
        [layout.group(gained, panels.columns(moved, chosen=p.samples), predicted, "risk of STL over PT+FT")],
    ]  # fmt: skip
    note = panels.spread_in_words({role: data[role] for role in ("overlap", "nested", "magnitude")})
    return layout.compose(rows, p.title, f"{note} (a–c)", "d: medians and ranges")


def relu_least_penalty(data, p):
    """The function of least penalty beside the one that ReLU networks find: risks, penalties, gains, turns of weights.

    Panels a–d. Roles: the measure `least_penalty`, `least` of networks finetuned and from scratch, and `spread` of
    networks finetuned after pretrained weights were turned apart.
    """
    every = trained(data, "least", "spread")
    runs, apart = (one.isel(run=one["unfitted"].values <= UNFITTED) for one in every)
    networks, fitted = (sum(one.sizes["run"] for one in some) for some in (every, (runs, apart)))
    runs = runs.assign({name: runs[name].clip(FLOOR) for name in RISKS})
    scratch, tuned = (where(runs, protocol=protocol) for protocol in ("single_task", "finetuning"))
    both = matched(tuned[list(RISKS)], scratch[list(RISKS)], ["protocol"])
    gain, gain_predicted = (("run", both[f"{risk}_other"] / both[risk]) for risk in RISKS)
    tuned = tuned.assign(gain=gain, gain_predicted=gain_predicted)
    cosines = {rho: f"ρ = {rho:g}" for rho in panels.values(tuned, "correlation")}
    turning = tuned.isel(run=tuned["correlation"].values < max(cosines))  # the others need not turn: log 0

    # Curves of a and b: from scratch, whatever the cosine, finetuned at each, and finetuned from weights turned apart.
    finetuned = [f"PT+FT, ρ = {rho:g}" for rho in runs["correlation"].values]
    runs = runs.assign_coords(curve=("run", np.where(runs["protocol"] == "single_task", "STL", finetuned)))
    apart = apart.assign_coords(curve=("run", [f"ρ = {rho:g}, turned apart" for rho in apart["correlation"].values]))
    # Grey, since the colour of training from scratch in other figures is that of a cosine.
    colors = {"STL": "0.55"} | {f"PT+FT, {name}": color for name, color in
                                zip(cosines.values(), panels.colors("correlation", cosines), strict=True)}  # fmt: skip
    looks = {name: (name, {"color": color}) for name, color in colors.items()}
    looks |= {name: (name, {"color": "#CC3311", "markersize": 7}) for name in panels.values(apart, "curve")}

    def risks(ax, part):
        """Panel a."""
        markers = panels.markers(panels.values(runs, "magnitude"))
        for (curve, color), (magnitude, marker) in product(colors.items(), markers.items()):
            cell = part.isel(run=chosen(part, curve=curve, magnitude=magnitude))
            ax.plot(cell["risk_predicted"], cell["risk_found"], marker, color=color, markersize=3, alpha=0.7)
        panels.name_points(ax, colors, {f"magnitude {magnitude:g}": marker for magnitude, marker in markers.items()})
        ax.axline((0.1, 0.1), (1, 1), **ONE)
        ax.set(xscale="log", yscale="log", xlabel="function of least penalty")

    def penalties(ax, part):
        """Panel b."""
        panels.curves(ax, part, "penalty", "magnitude", "curve", looks, 0.25)
        ax.set_yscale("log")
        layout.plain_decades(ax.yaxis)
        ax.axhline(1, **ONE)

    def compared(ax, part, found, predicted):
        """Panel d, and without its line at 1 panel c."""
        panels.curves(ax, part, found, "magnitude", "correlation", cosines, 0.25)
        for _, same, color in panels.colored(part, "correlation", list(cosines)):
            ax.plot(panels.medians(same, predicted, "magnitude"), color=color, linestyle="--", marker="x")
        ax.set_yscale("log")

    def gains(ax, part):
        """Panel c."""
        compared(ax, part, "gain", "gain_predicted")
        ax.axhline(1, **ONE)

    turns = partial(compared, found="turned", predicted="turned_predicted")
    every = panels.relative(xr.concat([runs, apart], "run"), "penalty", "penalty_least")
    # One panel alone is as wide as two, for its texts.
    group = partial(layout.group, width=max(2, len(panels.values(runs, "samples"))))
    rows = [
        [group("a  Risk over the teacher's mean square", panels.columns(runs), risks, "network that is found"),
         group("b  Penalty R̃ of what is found over the least", panels.columns(every), penalties, "R̃ / least R̃",
               "magnitude")],
        [group("c  Risk from scratch over risk after pretraining", panels.columns(tuned), gains,
               "risk of STL over PT+FT", "magnitude"),
         group("d  Turn of the pretrained weights, mean of 1 − cosine", panels.columns(turning), turns, "1 − cosine",
               "magnitude")],
    ]  # fmt: skip
    left_out = f"{networks - fitted} of {networks} networks are left out, which do not fit their samples"
    notes = "dashed: function of least penalty", f"risks below {FLOOR:g} are drawn as that", left_out
    spread_note = f"{panels.spread_in_words(data, 'bars')} (b–d)"
    return layout.compose(rows, p.title, spread_note, "a: single networks", *notes)
