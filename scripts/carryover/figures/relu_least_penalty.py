"""The function of least penalty beside the one that ReLU networks find: risks, penalties, gains, turns of weights."""

from functools import partial

import numpy as np

from carryover.figures.drawing import layout, log_axes, panels, relu
from carryover.runs import where

PENALTIES = ("penalty", "penalty_least", "unfitted", "samples", "correlation", "magnitude")
DRAWN = {"least": ("risk_found", "risk_predicted", "turned", "turned_predicted", *PENALTIES), "spread": PENALTIES}
MARKERS = ("v", "s", "o", "D", "^")
APART = "#CC3311"
APART_BY = 0.25  # octaves between the curves of a panel
SCRATCH = "0.55"  # its own colour in other figures is that of a cosine
ONE = {"color": "0.3", "linewidth": 1, "linestyle": ":"}


def draw(data, p):
    """Panels a–d. Roles: the measure `least_penalty`, `least` of networks finetuned and from scratch, and `spread` of
    networks finetuned after pretrained weights were turned apart.

    Raises UserError where one lacks what is drawn.
    """
    shown = relu.trained({role: data[role] for role in DRAWN}, DRAWN)
    fits = {role: runs["unfitted"].values <= p.unfitted for role, runs in shown.items()}
    fitted, spread = (panels.relative(shown[role].isel(run=fits[role]), "penalty", "penalty_least") for role in DRAWN)
    fitted = fitted.assign({name: fitted[name].clip(p.floor) for name in ("risk_found", "risk_predicted")})
    tuned = where(fitted, protocol="finetuning")
    found = partial(_found_and_predicted, found="found", predicted="predicted", line=1)
    # The last cosine is left out of d: units that need not turn have no place on its logarithmic axis.
    turned = partial(_found_and_predicted, found="turned", predicted="turned_predicted", cosines=slice(-1))
    groups = [
        (_risks, fitted, "a  Risk over the teacher's mean square", "network that is found"),
        (partial(_penalties, spread), fitted, "b  Penalty R̃ of what is found over the least", "R̃ / least R̃"),
        (found, _gains(fitted), "c  Risk from scratch over risk after pretraining", "risk of STL over PT+FT"),
        (turned, tuned, "d  Turn of the pretrained weights, mean of 1 − cosine", "1 − cosine"),
    ]
    width = max(2, len(panels.values(fitted, "samples")))  # panels; one alone is as wide as two, for its texts
    drawn = [(width, partial(_by_samples, *group)) for group in groups]
    kept = np.concatenate([*fits.values()])
    left_out = f"{(~kept).sum()} of {kept.size} networks are left out, which do not fit their samples"
    notes = "dashed: function of least penalty", f"risks below {p.floor:g} are drawn as that", left_out
    spread_note = f"{relu.spread_of(shown, 'bars')} (b–d)"
    return layout.compose([drawn[:2], drawn[2:]], p.title, spread_note, "a: single networks", *notes)


def _by_samples(panel, runs, title, label, figure):
    """A group of panels, one for each number of samples."""
    sizes = panels.values(runs, "samples")
    axes = layout.row(figure, len(sizes), title)
    for ax, n in zip(axes, sizes, strict=True):
        ax.set_yscale("log")
        panel(ax, where(runs, samples=n))
        ax.set_title(f"n = {n:g}")
    axes[0].set_ylabel(label)


def _risks(ax, runs):
    """Panel a."""
    for color, name, part in _protocols(runs):
        for magnitude, marker in zip(panels.values(part, "magnitude"), MARKERS, strict=False):
            cell = where(part, magnitude=magnitude)
            style = {"marker": marker, "markersize": 3, "linestyle": "", "alpha": 0.7}
            ax.plot(cell["risk_predicted"], cell["risk_found"], color=color, **style)
            ax.plot([], [], color="0.4", label=f"magnitude {magnitude:g}", **style)
        ax.plot([], [], color=color, linewidth=4, label=name)
    ax.axline((0.1, 0.1), (1, 1), **ONE)
    ax.set(xscale="log", xlabel="function of least penalty")


def _penalties(spread, ax, runs):
    """Panel b."""
    apart = where(spread, samples=runs["samples"].values[0])
    curves = [*_protocols(runs)]
    for place, (color, name, part) in enumerate(curves):
        _bars(ax, part, "penalty", place, len(curves), name, color=color)
    for rho, part, _ in panels.colored(apart, "correlation"):
        _bars(ax, part, "penalty", len(curves), len(curves), f"ρ = {rho:g}, turned apart", color=APART, markersize=7)
    log_axes.plain_decades(ax.yaxis)
    ax.axhline(1, **ONE)
    log_axes.named(ax, panels.values(runs, "magnitude"))
    ax.set_xlabel("magnitude")


def _found_and_predicted(ax, runs, found, predicted, cosines=slice(None), line=None):
    """Panels c and d: what is found and what is predicted at some cosines, against the magnitude."""
    shown = panels.values(runs, "correlation")[cosines]
    for place, (rho, part, color) in enumerate(panels.colored(runs, "correlation")):
        if rho in shown:
            _bars(ax, part, found, place, len(shown), f"ρ = {rho:g}", color=color)
            medians = part[[predicted]].to_dataframe().groupby("magnitude")[predicted].median()
            ax.plot(medians, color=color, linestyle="--", marker="x")
    log_axes.named(ax, panels.values(runs, "magnitude"))
    ax.set_xlabel("magnitude")
    if line is not None:
        ax.axhline(line, **ONE)


def _bars(ax, runs, quantity, place, count, name, **style):
    """A curve against magnitudes, beside the others of a panel."""
    runs = panels.dodged(runs, "magnitude", place, count, APART_BY)
    panels.spread(ax, runs, quantity, "magnitude", name, bars=True, **style)


def _protocols(runs):
    """(colour, name, runs) of training from scratch, whatever the cosine, and of finetuning at each."""
    yield SCRATCH, panels.name(runs, "protocol", "single_task"), where(runs, protocol="single_task")
    for rho, part, color in panels.colored(where(runs, protocol="finetuning"), "correlation"):
        yield color, f"PT+FT, ρ = {rho:g}", part


def _gains(runs):
    """Risks from scratch over those after pretraining, found and predicted, of the same task and samples."""
    keys = ["seed", "samples", "correlation", "magnitude"]
    names = {"risk_found": "found", "risk_predicted": "predicted"}
    risks = runs[[*names]].to_dataframe().reset_index().set_index(["protocol", *keys])[[*names]]
    ratios = (risks.loc["single_task"] / risks.loc["finetuning"]).dropna().rename(columns=names).reset_index()
    return ratios.rename_axis("run").to_xarray().drop_vars("run").set_coords(keys)
