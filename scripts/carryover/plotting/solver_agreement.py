"""The exact limit beside simulation (E1): how far trained networks end from it, and what training costs."""

from dataclasses import dataclass

import matplotlib.pyplot as plt

from carryover import labels
from carryover.analysis.agreement import distances
from carryover.config.parameters import parameter
from carryover.drawing import panels

SOLVERS = {
    "flow": ("gradient flow, adaptive", "#009E73"),
    "descent": ("gradient descent", "#D55E00"),
    "symmetric": ("minimiser of eq 22 (paths taken alike)", "#CC79A7"),
}


@dataclass(frozen=True, kw_only=True)
class Parameters:
    protocols: tuple[str, ...] = parameter(("single_task", "finetuning"), "protocols to show, a panel each")
    samples: int = parameter(32, "samples of the run whose training is shown", minimum=1)


def draw(data, p):
    """Roles: `coefficients`, `trajectory` and `risk` of one experiment solved and simulated."""
    distance = distances(data["coefficients"])
    columns = len(p.protocols)
    fig, axes = plt.subplots(3, columns, figsize=(4.6 * columns, 8.6), sharey="row", squeeze=False)
    for ax, protocol in zip(axes.T, p.protocols, strict=True):
        _distance(ax[0], panels.where(distance, protocol=protocol))
        _evaluations(ax[1], panels.where(data["risk"], protocol=protocol))
        _training(ax[2], data, protocol, p.samples)
        ax[0].set_title(panels.name(data["risk"], "protocol", protocol))
    axes[0, 0].set_ylabel("relative distance from the exact limit")
    axes[1, 0].set_ylabel("gradient evaluations")
    axes[2, 0].set_ylabel("risk along training")
    panels.legend(fig, columns=2)
    seeds = panels.seeds_in_words(data["coefficients"])
    fig.suptitle(f"Trained networks end at the exact limit, not at the minimiser of eq 22\n({seeds}; {panels.SPREAD})")
    return fig


def _distance(ax, distance):
    for solver, (label, color) in SOLVERS.items():
        if (distance["solver"].values == solver).any():
            panels.spread(ax, panels.where(distance, solver=solver), "distance", "samples", label, color=color)
    ax.set_yscale("log")
    panels.log_samples(ax, panels.values(distance, "samples"))


def _evaluations(ax, risk):
    for solver in ("flow", "descent"):
        label, color = SOLVERS[solver]
        panels.spread(ax, panels.where(risk, solver=solver), "evaluations", "samples", label, color=color)
    ax.set_yscale("log")
    ax.set_xlabel(labels.label(risk, "samples"))
    panels.log_samples(ax, panels.values(risk, "samples"))


def _training(ax, data, protocol, samples):
    """Risk against flow time for every seed at full overlap: both ways of training follow one path."""
    chosen = {"protocol": protocol, "samples": samples, "overlap": data["risk"]["overlap"].values.max()}
    for solver, style in (("flow", "-"), ("descent", "--")):
        _, color = SOLVERS[solver]
        curves = panels.where(data["trajectory"], solver=solver, **chosen)
        for run in range(curves.sizes["run"]):
            ax.plot(curves["time"][run], curves["risk_curve"][run], style, color=color, linewidth=1, alpha=0.8)
    ends = panels.where(data["risk"], solver="exact", **chosen)["risk_final"].values
    for end in ends:
        ax.axhline(end, color="0.6", linewidth=0.6, linestyle=":", label="exact limit" if end == ends[0] else None)
    ax.set(xscale="log", yscale="log", xlabel=f"flow time (n = {samples}, full overlap)")
