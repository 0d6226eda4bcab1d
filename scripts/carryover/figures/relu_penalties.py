"""The penalty that finetuned ReLU networks minimise, and what they find (Fig. 1 of "Implicit penalty …")."""

from functools import partial

import matplotlib.pyplot as plt
import numpy as np

from carryover.claims.relu_penalty import FLOOR, UNFITTED
from carryover.figures.drawing import layout, panels
from carryover.figures.relu_features import ONE, related, trained
from carryover.runs import where

MARKERS = ("v", "s", "o", "D", "^")


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
    gains, curves = _gains(data["risk"], {"risk_final": "gain"}), partial(panels.curves, along="samples")
    excess = partial(curves, quantity="displacement", hue="unit_correlations", named=related(shared, 4))
    penalty = partial(curves, quantity="penalty", hue="correlation", named=cosines)

    def excess_nested(ax, runs):
        """Panel b."""
        for overlap, style, label in ((0.0, "--", "new"), (1.0, "-", "of the units")):
            named = {count: (f"{count:g} {label}", {"linestyle": style})
                     for count in panels.some(panels.values(runs, "main_features"), 2)}  # fmt: skip
            curves(ax, where(runs, overlap=overlap), "displacement", hue="main_features", named=named)

    def predicted(ax, runs):
        """Panel d."""
        markers = dict(zip(panels.values(moved, "magnitude"), MARKERS, strict=False))
        for rho, part, color in panels.colored(runs, "correlation"):
            for magnitude, cell, _ in panels.colored(part, "magnitude", list(markers)):
                same = {"samples": cell["samples"].values[0], "correlation": rho, "magnitude": magnitude}
                gain = where(gains, **same)["gain"].values
                cost = np.median(cell["penalty_new"] / cell["penalty_paired"])
                ends = np.median(gain), gain.min(), gain.max()
                panels.points(ax, [cost], [[end] for end in ends], color=color, marker=markers[magnitude], linestyle="")
            ax.plot([], [], "-", color=color, linewidth=4, label=cosines[rho])
        for magnitude, marker in markers.items():
            ax.plot([], [], marker, color="0.4", label=f"magnitude {magnitude:g}")
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
    fits = [runs["unfitted"].values <= UNFITTED for runs in every]
    runs, apart = (panels.relative(one.isel(run=fit), "penalty", "penalty_least")
                   for one, fit in zip(every, fits, strict=True))  # fmt: skip
    runs = runs.assign({name: runs[name].clip(FLOOR) for name in ("risk_found", "risk_predicted")})

    def risks(ax, part):
        """Panel a."""
        for color, name, curve in _protocols(part):
            for magnitude, marker in zip(panels.values(curve, "magnitude"), MARKERS, strict=False):
                cell = where(curve, magnitude=magnitude)
                style = {"marker": marker, "markersize": 3, "linestyle": "", "alpha": 0.7}
                ax.plot(cell["risk_predicted"], cell["risk_found"], color=color, **style)
                ax.plot([], [], color="0.4", label=f"magnitude {magnitude:g}", **style)
            ax.plot([], [], color=color, linewidth=4, label=name)
        ax.axline((0.1, 0.1), (1, 1), **ONE)
        ax.set(xscale="log", yscale="log", xlabel="function of least penalty")

    def penalties(ax, part):
        """Panel b."""
        curves, turned = [*_protocols(part)], where(apart, samples=part["samples"].values[0])
        for place, (color, name, curve) in enumerate(curves):
            _bars(ax, curve, "penalty", place, len(curves), name, color=color)
        for rho, curve, _ in panels.colored(turned, "correlation"):
            name = f"ρ = {rho:g}, turned apart"
            _bars(ax, curve, "penalty", len(curves), len(curves), name, color="#CC3311", markersize=7)
        ax.set_yscale("log")
        layout.plain_decades(ax.yaxis)
        ax.axhline(1, **ONE)

    def found(ax, part):
        """Panel c."""
        _found_and_predicted(ax, part, "found", "predicted", panels.values(part, "correlation"))
        ax.axhline(1, **ONE)

    def turns(ax, part):
        """Panel d, without the last cosine: units that need not turn have no place on its logarithmic axis."""
        _found_and_predicted(ax, part, "turned", "turned_predicted", panels.values(part, "correlation")[:-1])

    gains = _gains(runs, {"risk_found": "found", "risk_predicted": "predicted"})
    tuned = where(runs, protocol="finetuning")
    groups = [
        ("a  Risk over the teacher's mean square", runs, risks, "network that is found", None),
        ("b  Penalty R̃ of what is found over the least", runs, penalties, "R̃ / least R̃", "magnitude"),
        ("c  Risk from scratch over risk after pretraining", gains, found, "risk of STL over PT+FT", "magnitude"),
        ("d  Turn of the pretrained weights, mean of 1 − cosine", tuned, turns, "1 − cosine", "magnitude"),
    ]
    width = max(2, len(panels.values(runs, "samples")))  # panels; one alone is as wide as two, for its texts
    drawn = [layout.group(title, panels.columns(shown), *told, width=width) for title, shown, *told in groups]
    fitted = np.concatenate(fits)
    left_out = f"{(~fitted).sum()} of {fitted.size} networks are left out, which do not fit their samples"
    notes = "dashed: function of least penalty", f"risks below {FLOOR:g} are drawn as that", left_out
    spread_note = f"{panels.spread_in_words(data, 'bars')} (b–d)"
    return layout.compose([drawn[:2], drawn[2:]], p.title, spread_note, "a: single networks", *notes)


def _found_and_predicted(ax, runs, found, predicted, shown):
    """What is found and what is predicted at some cosines, against the magnitude."""
    for place, (rho, part, color) in enumerate(panels.colored(runs, "correlation")):
        if rho in shown:
            _bars(ax, part, found, place, len(shown), f"ρ = {rho:g}", color=color)
            ax.plot(panels.medians(part, predicted, "magnitude"), color=color, linestyle="--", marker="x")
    ax.set_yscale("log")


def _bars(ax, runs, quantity, place, count, name, **style):
    """A curve against magnitudes, a quarter of an octave beside its neighbours."""
    runs = panels.dodged(runs, "magnitude", place, count, 0.25)
    panels.spread(ax, runs, quantity, "magnitude", name, bars=True, **style)


def _protocols(runs):
    """(colour, name, runs) of training from scratch, whatever the cosine, and of finetuning at each."""
    # Grey, since the colour of training from scratch in other figures is that of a cosine.
    yield "0.55", panels.name(runs, "protocol", "single_task"), where(runs, protocol="single_task")
    for rho, part, color in panels.colored(where(runs, protocol="finetuning"), "correlation"):
        yield color, f"PT+FT, ρ = {rho:g}", part


def _gains(runs, names):
    """Risks from scratch over those after pretraining, of the same task and samples; `names` are {risk: its ratio}."""
    keys = ["seed", "samples", "correlation", "magnitude"]
    risks = runs[[*names]].to_dataframe().reset_index().set_index(["protocol", *keys])[[*names]]
    ratios = (risks.loc["single_task"] / risks.loc["finetuning"]).dropna().rename(columns=names).reset_index()
    return ratios.rename_axis("run").to_xarray().drop_vars("run").set_coords(keys)
