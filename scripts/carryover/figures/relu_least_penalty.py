"""The function of least penalty beside the one that ReLU networks find: risks, penalties, gains, turns of weights."""

from functools import partial

import numpy as np

from carryover.figures.drawing import layout, log_axes, panels, relu

PENALTIES = ("penalty", "penalty_least", "unfitted", "samples", "correlation", "magnitude")
DRAWN = {"least": ("risk_found", "risk_predicted", "turned", "turned_predicted", *PENALTIES), "spread": PENALTIES}
MARKERS = ("v", "s", "o", "D", "^")
APART = "#CC3311"
APART_BY = 0.25  # octaves between the curves of a panel
SCRATCH = "0.55"  # its own colour in other figures is that of a cosine


def draw(data, p):
    """Panels a–d. Roles: the measure `least_penalty`, `least` of networks finetuned and from scratch, and `spread` of
    networks finetuned after pretrained weights were turned apart.

    Raises UserError where one lacks what is drawn.
    """
    shown = relu.trained({role: data[role] for role in DRAWN}, DRAWN)
    fits = {role: runs["unfitted"].values <= p.unfitted for role, runs in shown.items()}
    fitted, spread = (panels.relative(shown[role].isel(run=fits[role]), "penalty", "penalty_least") for role in DRAWN)
    fitted = fitted.assign({name: fitted[name].clip(p.floor) for name in ("risk_found", "risk_predicted")})
    tuned = panels.where(fitted, protocol="finetuning")
    groups = [
        (_risks, fitted, "a  Risk over the teacher's mean square", "network that is found"),
        (partial(_penalties, spread), fitted, "b  Penalty R̃ of what is found over the least", "R̃ / least R̃"),
        (_gained, _gains(fitted), "c  Risk from scratch over risk after pretraining", "risk of STL over PT+FT"),
        (_turned, tuned, "d  Turn of the pretrained weights, mean of 1 − cosine", "1 − cosine"),
    ]
    wide = max(2, len(panels.values(fitted, "samples")))  # panels; one alone is as wide as two, for its texts
    painted = [(wide, partial(_group, *group)) for group in groups]
    smallest = f"risks below {p.floor:g} are drawn as that"
    kept = np.concatenate([*fits.values()])
    left_out = f"{(~kept).sum()} of {kept.size} networks are left out, which do not fit their samples"
    notes = ("a: single networks", "dashed: function of least penalty", smallest, left_out)
    return layout.compose([painted[:2], painted[2:]], p.title, f"{relu.spread_of(shown, 'bars')} (b–d)", *notes)


def _group(paint, runs, title, label, figure):
    """A group of panels, one for each number of samples."""
    axes = layout.row(figure, len(panels.values(runs, "samples")), title)
    for ax, n in zip(axes, panels.values(runs, "samples"), strict=True):
        ax.set_yscale("log")
        paint(ax, panels.where(runs, samples=n))
        ax.set_title(f"n = {n:g}")
    axes[0].set_ylabel(label)


def _risks(ax, runs):
    """Panel a."""
    for color, name, part in _protocols(runs):
        for (magnitude, cell, _), marker in zip(panels.colored(part, "magnitude"), MARKERS, strict=False):
            style = {"marker": marker, "markersize": 3, "linestyle": "", "alpha": 0.7}
            ax.plot(cell["risk_predicted"], cell["risk_found"], color=color, **style)
            ax.plot([], [], color="0.4", label=f"magnitude {magnitude:g}", **style)
        ax.plot([], [], color=color, linewidth=4, label=name)
    ax.axline((0.1, 0.1), (1, 1), color="0.3", linewidth=1, linestyle=":")
    ax.set(xscale="log", xlabel="function of least penalty")


def _penalties(spread, ax, runs):
    """Panel b."""
    apart = panels.where(spread, samples=runs["samples"].values[0])
    curves = [*_protocols(runs)]
    for place, (color, name, part) in enumerate(curves):
        _bars(ax, part, "penalty", place, len(curves), name, color=color)
    for rho, part, _ in panels.colored(apart, "correlation"):
        _bars(ax, part, "penalty", len(curves), len(curves), f"ρ = {rho:g}, turned apart", color=APART, markersize=7)
    log_axes.plain_decades(ax.yaxis)
    ax.axhline(1, color="0.3", linewidth=1, linestyle=":")
    _against_magnitude(ax, runs)


def _gained(ax, runs):
    """Panel c."""
    _both(ax, runs, "found", "predicted", panels.values(runs, "correlation"))
    ax.axhline(1, color="0.3", linewidth=1, linestyle=":")


def _turned(ax, runs):
    """Panel d, without the units that need not turn at all: the axis is logarithmic."""
    _both(ax, runs, "turned", "turned_predicted", panels.values(runs, "correlation")[:-1])


def _both(ax, runs, found, predicted, chosen):
    """Of what is found and of what is predicted at some cosines, against the magnitude."""
    for place, (rho, part, color) in enumerate(panels.colored(runs, "correlation")):
        if rho in chosen:
            _bars(ax, part, found, place, len(chosen), f"ρ = {rho:g}", color=color)
            medians = part[[predicted]].to_dataframe().groupby("magnitude")[predicted].median()
            ax.plot(medians, color=color, linestyle="--", marker="x")
    _against_magnitude(ax, runs)


def _bars(ax, runs, quantity, place, count, name, **style):
    """A curve against magnitudes, beside the others of a panel."""
    runs = panels.beside(runs, "magnitude", place, count, APART_BY)
    panels.spread(ax, runs, quantity, "magnitude", name, bars=True, **style)


def _against_magnitude(ax, runs):
    log_axes.named(ax, panels.values(runs, "magnitude"))
    ax.set_xlabel("magnitude")


def _protocols(runs):
    """(colour, name, runs) of training from scratch, whatever the cosine, and of finetuning at each."""
    scratch = panels.where(runs, protocol="single_task")
    yield SCRATCH, panels.name(runs, "protocol", "single_task"), scratch
    for rho, part, color in panels.colored(panels.where(runs, protocol="finetuning"), "correlation"):
        yield color, f"PT+FT, ρ = {rho:g}", part


def _gains(runs):
    """Risks from scratch over those after pretraining, found and predicted, of the same task and samples."""
    keys = ["seed", "samples", "correlation", "magnitude"]
    names = {"risk_found": "found", "risk_predicted": "predicted"}
    risks = runs[[*names]].to_dataframe().reset_index().set_index(["protocol", *keys])[[*names]]
    ratios = (risks.loc["single_task"] / risks.loc["finetuning"]).dropna().rename(columns=names).reset_index()
    return ratios.rename_axis("run").to_xarray().drop_vars("run").set_coords(keys)
