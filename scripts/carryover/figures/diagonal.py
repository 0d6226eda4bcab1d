"""What diagonal networks learn, and what longer training does to it (appendices of feature reuse).

A figure takes {role: xarray dataset over `run`} and its options `p`, and returns a Matplotlib figure. PT+FT is
finetuning, STL single-task and MTL multi-task learning.
"""

import matplotlib.pyplot as plt
import numpy as np
from pydantic import PositiveInt

from carryover.analysis.margins import FAMILIES, FITTED, at_margins, interpolate, margins
from carryover.config import plugins
from carryover.config.parameters import parameter
from carryover.figures.drawing import layout, panels
from carryover.figures.titled import Titled
from carryover.runs import select_runs

SHARES = -0.02, 1.02  # ends of an axis
LEAST = 1e-4  # share of variance that is drawn


class DiagonalSolutions(Titled):
    samples: PositiveInt = parameter(64, "samples of the solutions whose sparsity is shown over overlaps")


@plugins.figure(data=["norms", "sparsity", "rescaled"])
def diagonal_solutions(data, p: DiagonalSolutions):
    """Norms, auxiliary share and sparsity of the solutions (Fig. 5 of the appendix).

    Panels a–f. Roles: `norms` and `sparsity` of the overlap experiment, `rescaled` sparsity of the nested one.
    """
    relative, weights, variance = "relative to ground truth", "share of the weight norm", "share of variance"
    sparsity = data["sparsity"]
    sparsity = sparsity.assign(outside=(1 - sparsity["top_k_variance"]).clip(min=LEAST))
    most = panels.values(sparsity, "overlap")[-1]
    full = select_runs(data["norms"], overlap=most)
    full = full.isel(run=np.isin(full["protocol"].values, ("single_task", "multi_task", "finetuning")))
    for norm in ("l1_norm", "l12_norm", "q_norm", "flow_penalty"):  # over the teacher's
        full = panels.relative(full, norm)
    alone, tuned = (select_runs(full, protocol=protocol) for protocol in ("single_task", "finetuning"))
    features = panels.values(data["rescaled"], "main_features")[-1]
    new = select_runs(data["rescaled"], protocol="finetuning", overlap=0.0, main_features=features)
    variances, shares = (panels.columns(runs, "overlap", "overlap {:g}")
                         for runs in (select_runs(sparsity, samples=p.samples), sparsity))  # fmt: skip
    factors, n = panels.curves_by(new, "rescale", label="rescaled × {:g}".format), "samples"
    # In c both layers trained against the readout alone, in c and e along ranks k.
    sizes, protocols = panels.values(sparsity, n)[1::2], ("single_task", "single_task_probe")
    layers = panels.curves_by(sparsity, n, "protocol", samples=sizes, protocol=protocols,
                              label=lambda n, name: f"{panels.name(sparsity, 'protocol', name)}, n = {n}")  # fmt: skip
    by_rank = {"xlabel": "k", "yscale": "log", "ylim": (0.8 * LEAST, 1.4)}

    def penalties(ax, tuned):
        for quantity, words, dashes in (("q_norm", "of eq 22, which takes both paths alike", "-"),
                                        ("flow_penalty", "of their own weights", "--")):  # fmt: skip
            look = {"color": panels.COLORS["finetuning"], "linestyle": dashes}
            panels.draw_spread(ax, tuned, quantity, "samples", words, **look)

    # The penalty that finetuning minimises is near 1, where the panel next to a has no room.
    rows = [
        [layout.curves("a  ℓ1,2 norm, all features shared", {"": full}, "l12_norm", n, "protocol", relative,
                       truth=1, width=1.3),
         layout.curves("a  Q penalty of eq 22", {"": full}, "q_norm", n, "protocol", "",
                       truth=1, width=1.3, yscale="log"),
         layout.group("a′  penalty of PT+FT", {"": tuned}, penalties, "", n, truth=1, width=1.4)],
        [layout.curves("b  auxiliary share of PT+FT, new features", {"": new}, "auxiliary_share", n, factors, weights,
                       dodge=0.14, ylim=SHARES, width=1.4),
         layout.curves("c  variance outside the k largest", {"": select_runs(sparsity, overlap=most)}, "outside", "k",
                       layers, variance, width=1.5, **by_rank),
         layout.curves("d  ℓ1 norm, by samples", {"": alone}, "l1_norm", n, "protocol", relative, truth=1, width=1.1)],
        [layout.group(f"e  variance outside the k largest weights, by overlap (n = {p.samples})", variances, _outside,
                      variance, **by_rank)],
        [layout.curves("f  share of the weight norm in the auxiliary dimensions", shares, "auxiliary_share", n,
                       "protocol", weights, ylim=SHARES, truth="auxiliary_share_teacher")],
    ]  # fmt: skip
    spread = panels.describe_spread(data["norms"], "band or bars")
    return layout.compose(rows, p.title, spread, "b: points moved apart", f"c, e: below {LEAST:g} drawn there")


def _outside(ax, sparsity):
    """A panel of e: variance `outside` (run, k) the k largest weights, with five bars a curve, next to the others'."""
    protocols, step = panels.values(sparsity, "protocol"), max(1, sparsity.sizes["k"] // 5)
    for place, (protocol, runs, color) in enumerate(panels.assign_colors(sparsity, "protocol")):
        bars = slice(step * (place + 1) // len(protocols), None, step)
        panels.draw_spread(ax, runs, "outside", "k", panels.name(sparsity, "protocol", protocol), bars, color=color)
    truth = 1 - sparsity["top_k_variance_teacher"].isel(run=0)
    ax.plot(sparsity["k"], truth.where(truth > LEAST), **layout.TRUTH)


@plugins.figure(data=["diagonal", "relu"])
def cross_entropy(data, p: Titled):
    """Longer training on cross-entropy acts like a smaller initialisation (appendix C).

    Roles `diagonal` and `relu`: trajectories on cross-entropy from several initial scales. `analysis.margins.margins`
    defines their margin γ and says why it is divided by the square of the initial scale.
    """
    features, error = "effective_features_curve", "risk_curve"
    columns = ((features, "time", "features by time"), (features, "ratio", "features by margin over scale²"),
               (error, "ratio", "test error by margin over scale²"))  # fmt: skip
    xlabels = {"time": "flow time (steps × learning rate)", "ratio": "margin γ / initial scale²"}
    fig = plt.figure(figsize=(3.4 * len(columns), 3.4 * len(FAMILIES) + 0.8))
    letters = iter("abcdef")
    for part, (role, family) in zip(fig.subfigures(len(FAMILIES), 1), FAMILIES.items(), strict=True):  # type: ignore[arg-type]
        runs = data[role]
        margin = runs["loss_curve"].copy(data=margins(runs["loss_curve"].values, FITTED))
        runs = runs.assign(ratio=margin / runs["initial_scale"] ** 2)
        axes = part.subplots(1, len(columns))
        axes[1].sharey(axes[0])
        for ax, (quantity, along, title) in zip(axes, columns, strict=True):
            for scale, same, color in panels.assign_colors(runs, "initial_scale"):
                # Interpolate all runs on one grid of x, and keep the x that every run has reached.
                x, y = same[along].values, same[quantity].values
                grid = np.geomspace(np.nanmin(x), np.nanmax(x), 500)
                read = np.stack([interpolate(*curve, np.log(grid)) for curve in zip(np.log(x), y, strict=True)])
                grid, read = (some[..., np.isfinite(read).all(axis=0)] for some in (grid, read))
                if grid.size:
                    middle, *ends = np.quantile(read, (0.5, *panels.extent(runs)), axis=0)
                    look = {"color": color, "marker": "o", "markevery": [-1]}
                    panels.band(ax, grid, middle, *ends, f"initial scale {scale:g}", **look)  # type: ignore[call-arg]
            ax.set(xscale="log", title=f"{next(letters)}  {title}", xlabel=xlabels[along])
            if quantity == features:
                ax.set_yscale("log")
                layout.plain_decades(ax.yaxis)
        axes[0].set_ylabel(f"{family}\neffective number of features")
        axes[-1].set_ylabel("test error")
        layout.legend(part, panels.describe_spread(runs), columns=4)  # families may differ in their seeds
    notes = "dot: end of training", f"margins: from a training loss of {FITTED:g} on"
    return layout.finish(fig, p.title, *notes, entries=False)


@plugins.figure(data=["trajectory"])
def endless_training(data, p: Titled):
    """Endless training on cross-entropy: norms and test errors over the margin (appendix C).

    Role `trajectory`: diagonal networks of several protocols, from scratch from several initial scales.
    """
    runs = data["trajectory"]
    smallest = np.nanmin(runs["initial_scale"].values)
    from_small = runs.isel(run=~(runs["initial_scale"].values > smallest))  # NaN: from a pretrained network
    alone = from_small.isel(run=from_small["protocol"].values != "multi_task")
    joint = select_runs(runs, protocol="multi_task")
    scales = panels.curves_by(joint, "initial_scale", label="MTL, initial scale {:g}".format)
    shown = (
        (alone, "l1_norm_curve", "protocol", "a  ℓ1 norm of the main task", "ℓ1 norm / margin"),
        (from_small, "risk_curve", "protocol", "b  test error of the main task", "test error"),
        (joint, "group_norm_curve", scales, "c  ℓ1,2 norm of both tasks", "ℓ1,2 norm / margin"),
    )
    fig, axes = plt.subplots(1, 3, figsize=(8.4, 3.0))
    for ax, (part, curve, curves, title, label) in zip(axes, shown, strict=True):
        values = at_margins(part, curve, np.geomspace(2.0, 130.0, 40))
        values = values / values["margin"] if "norm" in curve else values
        reached = values.dropna("margin").to_dataset(name="value")  # by all runs
        panels.curves(ax, reached, "value", "margin", curves)
        ax.set(title=title, xlabel="margin γ", ylabel=label, xscale="log")
    start = f"from scratch in a and b: initial scale {smallest:g}"
    return layout.finish(fig, p.title, start, panels.describe_spread(runs))
