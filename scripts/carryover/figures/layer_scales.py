"""What the sizes of the layers before pretraining make of finetuning."""

import matplotlib.pyplot as plt
import numpy as np

from carryover.config import plugins
from carryover.figures.drawing import layout, panels
from carryover.figures.titled import Titled
from carryover.runs import select_runs

LOWEST = -6.0  # log₁₀ of the risk that has the darkest colour
MARGIN = 1.1  # factor on the least other risk from which on finetuning counts as worse
TASKS = {
    "same": ("all pretrained features", 1.0, -1),
    "nested": ("few of them", 1.0, 0),
    "mixed": ("few, half of them new", 0.5, 0),
    "new": ("few new features", 0.0, 0),
}
"""{task of the curve: (its name, the overlap of trained networks, the place of their number of features)}."""
EXPONENTS = {
    "exponent_new": ("-", "lazy above: new features cost like ℓ2, below like ℓ1"),
    "exponent_pretrained": ("--", "selecting inside: pretrained features cost like ℓ1; reusing outside: like ℓ2"),
}
"""{exponent of the curve: (its line at 1.5, the regimes that it parts)}."""


@plugins.figure(data=["curve", "risk"])
def layer_scales(data, p: Titled):
    """Map of the risk of finetuning over scale and ratio of the layers, by task and samples.

    Roles: `curve`, exact risks and exponents over `task`, `sample_size`, `scale` and `ratio`; `risk`, trained diagonal
    networks of several initial scales and balances.
    """
    curve, risk = data["curve"], data["risk"]
    sizes, features = curve["sample_size"].values, panels.values(risk, "main_features")
    fig = plt.figure(figsize=(8.4, 2.0 * len(sizes) + 1.2))
    axes = fig.subplots(len(sizes), len(TASKS), sharex=True, sharey=True, squeeze=False)
    look = {"cmap": "YlGnBu_r", "vmin": LOWEST, "vmax": 0.0}
    for row, n in zip(axes, sizes, strict=True):
        row[0].set_ylabel(f"n = {n}\nratio u/v")
        for ax, (task, (_, overlap, place)) in zip(row, TASKS.items(), strict=True):
            exact = curve.sel(task=task, sample_size=n)
            grid = exact["scale"], exact["ratio"]
            image = ax.pcolormesh(*grid, np.log10(exact["finetuning"]).T, shading="gouraud", rasterized=True, **look)
            others = np.minimum(exact["finetuning_probe"], exact["single_task"])
            worse = (exact["finetuning"] > MARGIN * others.clip(min=10**LOWEST)).T.astype(float)
            ax.contourf(*grid, worse, levels=[0.5, 1.5], colors="none", hatches=["////"])
            for name, (line, _) in EXPONENTS.items():
                ax.contour(*grid, exact[name].T, levels=[1.5], colors="black", linestyles=line, linewidths=1.2)
            runs = select_runs(risk, samples=n, overlap=overlap, main_features=features[place])
            tuned, multi_task = _medians(runs)
            where = tuned["scale"], tuned["ratio"]
            circles = {"s": 34, "edgecolors": "black", "linewidths": 0.8, "zorder": 3, "clip_on": False}
            ax.scatter(*where, c=np.log10(tuned["risk"]), **circles, **look)
            beaten = tuned[MARGIN * tuned["scale"].map(multi_task).clip(lower=10**LOWEST) < tuned["risk"]]
            ax.scatter(beaten["scale"], beaten["ratio"], s=16, c="black", marker="+", linewidths=0.8, zorder=4)
            ax.set(xscale="log", yscale="log", xlim=curve["scale"][[0, -1]], ylim=curve["ratio"][[0, -1]])
            ax.grid(False)
    for ax, (words, *_) in zip(axes[0], TASKS.values(), strict=True):
        ax.set_title(words)
    for ax in axes[-1]:
        ax.set_xlabel("scale c = u² + v²")
    fig.colorbar(image, ax=list(axes.flat), label="log₁₀ risk of finetuning", shrink=0.6, extend="min")
    for line, words in EXPONENTS.values():
        axes[0, 0].plot([], [], color="black", linestyle=line, label=words)
    notes = (
        "map: exact",
        "circles: trained, median over seeds",
        "hatched: a probe or training from scratch is better by a tenth",
        "+: so is multi-task learning of that scale",
    )
    return layout.finish(fig, p.title, *notes, columns=1)


def _medians(risk):
    """Medians over seeds: a data frame of finetuned networks with the `scale` and `ratio` of their layers before
    pretraining and their `risk`, and a Series of multi-task ones, from layers that are alike, by scale."""
    runs = risk["risk_final"].to_dataframe()
    tuned = runs[runs["protocol"] == "finetuning"].groupby(["pretrain_initial_scale", "pretrain_balance"])["risk_final"]
    tuned = tuned.median().rename("risk").reset_index()
    balance = tuned["pretrain_balance"]
    tuned = tuned.assign(scale=2 * tuned["pretrain_initial_scale"] ** 2, ratio=np.sqrt((1 + balance) / (1 - balance)))
    multi_task = runs[runs["protocol"] == "multi_task"]
    return tuned, multi_task.groupby(2 * multi_task["initial_scale"] ** 2)["risk_final"].median()


@plugins.figure(data=["curve", "relu"])
def layer_scales_beyond(data, p: Titled):
    """How the sizes of the layers before pretraining affect the risk: of a readout of pretrained linear networks, over
    the time of pretraining (a), and of finetuned ReLU networks (b–d).

    Roles: `curve`, risk of a readout over `balance`, `direction` of the target (that of the source, or a new one) and
    `pretraining_time`; `relu`, risk of ReLU networks over ratios of their layers.
    """
    curve, relu = data["curve"], data["relu"]
    few, most = (panels.values(relu, "main_features")[place] for place in (0, -1))
    tasks = {"b  all pretrained units": (1.0, most), "c  few of them": (1.0, few), "d  few new units": (0.0, few)}
    fig, axes = plt.subplots(1, 4, figsize=(8.4, 2.9))
    balances = curve["balance"].values
    for balance, color in zip(balances, panels.colors("balance", balances), strict=True):
        source, new = (curve["risk"].sel(balance=balance, direction=name) for name in ("source", "new"))
        axes[0].plot(source["pretraining_time"], source, "--", color=color)
        axes[0].plot(new["pretraining_time"], new, color=color, label=f"λ/c = {balance:g}")
    axes[0].plot([], [], "--", color="0.4", label="direction of the source")
    axes[0].set(xscale="log", xlabel="flow time of pretraining", ylabel="risk of a readout", title="a  linear networks")
    for ax in axes[2:]:
        ax.sharey(axes[1])
    for ax, (title, (overlap, units)) in zip(axes[1:], tasks.items(), strict=True):
        runs = select_runs(relu, overlap=overlap, main_features=units)
        panels.curves(ax, runs, "risk_final", "pretrain_layer_ratio", "samples")
        ax.set(xscale="log", yscale="log", title=title, xlabel="ratio |w|/|a| of a unit")
    axes[1].set_ylabel("risk after finetuning")
    return layout.finish(fig, p.title, panels.describe_spread(relu), *panels.convergence(relu))
