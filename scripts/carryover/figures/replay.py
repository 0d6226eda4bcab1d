"""The published runs, drawn again from the authors' seeds (E10)."""

import itertools

import matplotlib.pyplot as plt
import numpy as np

from carryover.analysis.replay import NEAR, compare_rounding, match_published
from carryover.config import plugins
from carryover.figures.drawing import layout
from carryover.figures.titled import Titled

TITLES = {
    "scratch": "STL",
    "finetuned": "PT+FT",
    "multi_task": "MTL",
    "fitted": "probes, kernels: STL",
    "fitted_pretrained": "probes, kernels: PT+FT",
}
COLORS = ("#000000", "#0072B2", "#56B4E9", "#F0E442", "#D55E00", "#009E73", "#CC79A7")
"""Of experiments in the order of their names: diagonal ones, Fig. 1c, then ReLU networks."""
SMALLEST = 3e-8  # relative difference that is drawn: what single precision leaves


@plugins.figure()
def replay(data, p: Titled):
    """Risks of the replayed runs against the published ones, and their relative differences, by setup.

    Roles as for the claims `replay`, and `rounded`, the runs of the role `relu` repeated from weights one rounding
    away: their differences from these are grey.
    """
    # Data frames with a row for each run.
    rows, repeated = match_published(data), compare_rounding(data)
    setups = {name: title for name, title in TITLES.items() if name in set(rows["setup"])}
    size = (2.5 * len(setups) + 0.9, 6.0)
    fig, axes = plt.subplots(2, len(setups), figsize=size, sharex="col", sharey="row", squeeze=False)
    experiments = sorted(rows["published"].unique())
    looks = dict(zip(experiments, itertools.cycle(COLORS), strict=False))
    for (name, title), (scatter, residuals) in zip(setups.items(), axes.T, strict=True):
        own, again = rows[rows["setup"] == name], repeated[repeated["setup"] == name]
        look = {"color": "0.75", "markersize": 2.5, "label": "repetition, one rounding away"}
        residuals.plot(again["risk_published"], again["own"].clip(lower=SMALLEST), ".", **look)
        for experiment, runs in own.groupby("published"):
            look = {"color": looks[experiment], "markersize": 2.5, "alpha": 0.6, "label": experiment.replace("_", " ")}
            scatter.plot(runs["risk_published"], runs["risk_best"], ".", **look)
            residuals.plot(runs["risk_published"], runs["difference"].abs().clip(lower=SMALLEST), ".", **look)
        scatter.axline((1e-3, 1e-3), (1, 1), color="0.5", linewidth=0.8, linestyle=":")
        residuals.axhline(NEAR, color="0.3", linewidth=0.8, linestyle="--")
        near = np.mean(own["difference"].abs() <= NEAR)
        scatter.set(xscale="log", yscale="log", title=title)
        residuals.set(yscale="log", xlabel="published risk", title=f"{near:.1%} of {len(own)} within 1 %")
    axes[0, 0].set_ylabel("replayed risk")
    axes[1, 0].set_ylabel("relative difference")
    least = f"relative differences below {SMALLEST:g} are drawn there"
    return layout.finish(fig, p.title, "dots: runs", "dashed: 1 %", least)
