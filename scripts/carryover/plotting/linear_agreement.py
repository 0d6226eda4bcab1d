"""Deep linear networks as they are trained beside the exact limit (E1): where gradient descent arrives in the steps it
is given, and that gradient flow closes the gap."""

from dataclasses import dataclass

import matplotlib.pyplot as plt

from carryover.analysis.agreement import distances
from carryover.config.parameters import parameter
from carryover.drawing import layout, panels
from carryover.errors import UserError

ROLES = ("coefficients", "risk")

SOLVERS = {
    "descent": ("gradient descent", "#D55E00"),
    "balanced": ("flow of balanced networks", "#009E73"),
}


@dataclass(frozen=True, kw_only=True)
class Parameters:
    title: str = parameter("Gradient descent ends at the exact limit where it has the time to", "what is seen")
    near: float = parameter(1e-3, "distance that counts as agreement", above=0)


def draw(data, p):
    """Roles: `coefficients` and `risk` of one experiment solved and simulated."""
    distance, risk = distances(data["coefficients"]), data["risk"]
    if not distance.sizes["run"]:
        raise UserError("there are no simulated runs beside the exact ones.")
    protocols = panels.values(distance, "protocol")
    size = (3.2 * len(protocols) + 0.8, 5.6)
    fig, axes = plt.subplots(2, len(protocols), figsize=size, sharex=True, sharey="row", squeeze=False)
    for (above, below), protocol in zip(axes.T, protocols, strict=True):
        shown = panels.where(distance, protocol=protocol)
        for solver, (label, color) in SOLVERS.items():
            if (shown["solver"].values == solver).any():
                panels.spread(above, panels.where(shown, solver=solver), "distance", "gamma", label, color=color)
        above.axhline(p.near, color="0.5", linestyle=":", label=f"agreement: below {p.near:g}")
        above.set(yscale="log", title=panels.name(risk, "protocol", protocol))
        steps = panels.where(risk, protocol=protocol, solver="descent")
        _, color = SOLVERS["descent"]
        panels.spread(below, steps, "evaluations", "gamma", color=color)
        _unfinished(below, steps)
        below.set(yscale="log", xlabel="samples per dimension γ")
    most = panels.where(risk, solver="descent")["evaluations"].values.max()
    axes[1, 0].set_ylim(top=2 * most)  # once all panels are drawn, which share the axis
    axes[0, 0].set_ylabel("relative distance from\nthe exact limit")
    axes[1, 0].set_ylabel("steps of gradient descent")
    return layout.finished(fig, p.title, panels.seeds_in_words(risk), panels.SPREAD)


def _unfinished(ax, steps):
    """Mark the sample sizes at which some runs had used up their steps."""
    table = steps[["converged", "evaluations"]].to_dataframe()
    short = table[table["converged"] == 0].groupby("gamma")["evaluations"].max()
    if len(short):
        ax.plot(short.index, short, "x", color="k", ms=7, label="stopped before its tolerance")
