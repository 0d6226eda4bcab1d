"""The function of least penalty beside the one that ReLU networks find: risks, penalties, gains, turns of weights."""

import numpy as np

from carryover.figures.drawing import layout, panels, relu
from carryover.runs import where

MARKERS = ("v", "s", "o", "D", "^")
UNFITTED = 1e-4  # share of the targets' mean square up to which samples count as fitted
FLOOR = 1e-4  # share of the teacher's mean square below which risks are drawn as that
APART = "#CC3311"
APART_BY = 0.25  # octaves between the curves of a panel
SCRATCH = "0.55"  # its own colour in other figures is that of a cosine


def draw(data, p):
    """Panels a–d. Roles: the measure `least_penalty`, `least` of networks finetuned and from scratch, and `spread` of
    networks finetuned after pretrained weights were turned apart."""
    every = relu.trained(data, "least", "spread")
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
        ax.axline((0.1, 0.1), (1, 1), **relu.ONE)
        ax.set(xscale="log", yscale="log", xlabel="function of least penalty")

    def penalties(ax, part):
        """Panel b."""
        curves, turned = [*_protocols(part)], where(apart, samples=part["samples"].values[0])
        for place, (color, name, curve) in enumerate(curves):
            _bars(ax, curve, "penalty", place, len(curves), name, color=color)
        for rho, curve, _ in panels.colored(turned, "correlation"):
            name = f"ρ = {rho:g}, turned apart"
            _bars(ax, curve, "penalty", len(curves), len(curves), name, color=APART, markersize=7)
        _by_magnitude(ax, part)
        layout.plain_decades(ax.yaxis)
        ax.axhline(1, **relu.ONE)

    def found(ax, part):
        """Panel c."""
        _found_and_predicted(ax, part, "found", "predicted", panels.values(part, "correlation"))
        ax.axhline(1, **relu.ONE)

    def turns(ax, part):
        """Panel d, without the last cosine: units that need not turn have no place on its logarithmic axis."""
        _found_and_predicted(ax, part, "turned", "turned_predicted", panels.values(part, "correlation")[:-1])

    tuned = where(runs, protocol="finetuning")
    groups = [
        (risks, runs, "a  Risk over the teacher's mean square", "network that is found"),
        (penalties, runs, "b  Penalty R̃ of what is found over the least", "R̃ / least R̃"),
        (found, _gains(runs), "c  Risk from scratch over risk after pretraining", "risk of STL over PT+FT"),
        (turns, tuned, "d  Turn of the pretrained weights, mean of 1 − cosine", "1 − cosine"),
    ]
    width = max(2, len(panels.values(runs, "samples")))  # panels; one alone is as wide as two, for its texts
    drawn = [layout.group(title, panels.by_samples(shown), panel, label, width=width)
             for panel, shown, title, label in groups]  # fmt: skip
    kept = np.concatenate(fits)
    left_out = f"{(~kept).sum()} of {kept.size} networks are left out, which do not fit their samples"
    notes = "dashed: function of least penalty", f"risks below {FLOOR:g} are drawn as that", left_out
    spread_note = f"{relu.spread_in_words(data, 'bars')} (b–d)"
    return layout.compose([drawn[:2], drawn[2:]], p.title, spread_note, "a: single networks", *notes)


def _found_and_predicted(ax, runs, found, predicted, shown):
    """What is found and what is predicted at some cosines, against the magnitude."""
    for place, (rho, part, color) in enumerate(panels.colored(runs, "correlation")):
        if rho in shown:
            _bars(ax, part, found, place, len(shown), f"ρ = {rho:g}", color=color)
            ax.plot(panels.medians(part, predicted, "magnitude"), color=color, linestyle="--", marker="x")
    _by_magnitude(ax, runs)


def _bars(ax, runs, quantity, place, count, name, **style):
    """A curve against magnitudes, beside the others of a panel."""
    runs = panels.dodged(runs, "magnitude", place, count, APART_BY)
    panels.spread(ax, runs, quantity, "magnitude", name, bars=True, **style)


def _by_magnitude(ax, runs):
    ax.set(xlabel="magnitude", yscale="log")
    layout.name_ticks(ax, panels.values(runs, "magnitude"))


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
