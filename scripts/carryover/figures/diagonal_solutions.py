"""What diagonal networks learn (Fig. 5 of the appendix): norms, auxiliary share and sparsity of their solutions."""

from functools import partial

import matplotlib.pyplot as plt
import numpy as np

from carryover import labels
from carryover.figures.drawing import layout, log_axes, panels

TRAINED = ("single_task", "multi_task", "finetuning")
LEAST = 1e-4  # share of variance that is drawn
BARS = 5  # of a curve of e
APART = 0.14  # octaves between the curves of b, whose ranges overlap
PENALTIES = {"q_norm": ("of eq 22, which takes both paths alike", "-"), "flow_penalty": ("of their own weights", "--")}


def draw(data, p):
    """Panels a–f. Roles: `norms` and `sparsity` of the overlap experiment, `rescaled` sparsity of the nested one."""
    norms, sparsity, rescaled = data["norms"], data["sparsity"], data["rescaled"]
    overlaps = panels.values(sparsity, "overlap")
    fig = plt.figure(figsize=(9.2, 12.4))
    top, middle, fifth, sixth = fig.subfigures(4, 1, height_ratios=[1.15, 1.2, 1, 1.1])
    full = panels.where(norms, overlap=overlaps[-1])
    full = full.isel(run=np.isin(full["protocol"].values, TRAINED))
    parts = top.subfigures(1, 2, width_ratios=[2, 1.1])
    axes = parts[0].subplots(1, 2)
    _norm(axes[0], full, "l12_norm", "ℓ1,2 norm")
    _norm(axes[1], full, "q_norm", "Q penalty of eq 22")
    axes[1].set_yscale("log")
    log_axes.plain_decades(axes[1].yaxis)
    parts[0].suptitle("a  all features shared", fontsize="medium")
    layout.legend(parts[0])
    _finetuned(parts[1], panels.where(full, protocol="finetuning"))
    paints = (
        partial(_rescaled_share, sparsity=rescaled),
        partial(_by_samples, sparsity=panels.where(sparsity, overlap=overlaps[-1])),
        partial(_l1, norms=full),
    )
    for part, paint in zip(middle.subfigures(1, 3), paints, strict=True):
        paint(part.subplots())
        layout.legend(part, columns=2)
    _by_overlap(fifth, sparsity, overlaps, lambda ax, part: _outside(ax, panels.where(part, samples=p.samples)))
    fifth.suptitle(f"e  variance outside the k largest weights, by overlap (n = {p.samples})", fontsize="medium")
    _by_overlap(sixth, sparsity, overlaps, _share)
    sixth.suptitle("f  share of the weight norm in the auxiliary dimensions, by overlap", fontsize="medium")
    layout.legend(
        sixth,
        panels.spread_in_words(norms, "band or bars"),
        "b: points moved apart",
        f"c, e: below {LEAST:g} drawn there",
    )
    layout.title(fig, p.title)
    return fig


def _norm(ax, norms, quantity, title):
    """A norm of the solutions relative to the teacher's own."""
    panels.curves(ax, panels.relative(norms, quantity), quantity, "samples", "protocol")
    _truth(ax, norms)
    ax.set(title=title, ylabel="relative to ground truth")


def _finetuned(figure, norms):
    """What finetuning minimises, by both of its penalties: near 1, where the panel beside has no room."""
    ax = figure.subplots()
    for quantity, (words, dashes) in PENALTIES.items():
        color = panels.color("finetuning")
        panels.spread(ax, panels.relative(norms, quantity), quantity, "samples", words, color=color, linestyle=dashes)
    _truth(ax, norms)
    ax.set(ylabel="relative to ground truth")
    figure.suptitle(f"a′  penalty of {panels.name(norms, 'protocol', 'finetuning')}", fontsize="medium")
    layout.legend(figure, columns=1)


def _truth(ax, norms):
    ax.axhline(1, color="0.4", linewidth=0.8, linestyle=":", label="ground truth")
    log_axes.samples(ax, panels.values(norms, "samples"))
    ax.set_xlabel(labels.label(norms, "samples"))


def _l1(ax, norms):
    _norm(ax, panels.where(norms, protocol="single_task"), "l1_norm", "d  ℓ1 norm, by samples")


def _rescaled_share(ax, sparsity):
    """Panel b: as many new features as the auxiliary task has, by rescaling."""
    most = panels.values(sparsity, "main_features")[-1]
    shown = panels.where(sparsity, protocol="finetuning", overlap=0.0, main_features=most)
    count = len(panels.values(shown, "rescale"))
    for place, (factor, runs, color) in enumerate(panels.colored(shown, "rescale")):
        moved = panels.beside(runs, "samples", place, count, APART)
        name = f"rescaled × {factor:g}"
        panels.spread(ax, moved, "auxiliary_share", "samples", name, bars=True, color=color)
    log_axes.samples(ax, panels.values(shown, "samples"))
    ax.set(title="b  auxiliary share of PT+FT, new features", ylabel="share of the weight norm", ylim=(-0.02, 1.02))
    ax.set_xlabel(labels.label(sparsity, "samples"))


def _by_samples(ax, sparsity):
    """Panel c: both layers trained against the readout alone."""
    for n, runs, color in panels.colored(sparsity, "samples", panels.values(sparsity, "samples")[1::2]):
        for protocol, style in (("single_task", "-"), ("single_task_probe", "--")):
            name = panels.name(runs, "protocol", protocol)
            shown = _remaining(panels.where(runs, protocol=protocol))
            panels.profile(ax, shown, "outside", "k", f"{name}, n = {n}", color=color, linestyle=style)
    ax.set_title("c  variance outside the k largest")
    _against_k(ax)


def _outside(ax, sparsity):
    """A panel of e, with bars of the curves beside one another."""
    remaining, protocols = _remaining(sparsity), panels.values(sparsity, "protocol")
    step = max(1, sparsity.sizes["k"] // BARS)
    for place, protocol in enumerate(protocols):
        runs, name = panels.where(remaining, protocol=protocol), panels.name(remaining, "protocol", protocol)
        turn = slice(step * (place + 1) // len(protocols), None, step)
        panels.profile(ax, runs, "outside", "k", name, turn, color=panels.color(protocol))
    truth = 1 - sparsity["top_k_variance_teacher"].isel(run=0)
    ax.plot(sparsity["k"], truth.where(truth > LEAST), color="0.4", linestyle=":", linewidth=1, label="ground truth")
    _against_k(ax)


def _remaining(sparsity):
    return sparsity.assign(outside=(1 - sparsity["top_k_variance"]).clip(min=LEAST))


def _against_k(ax):
    ax.set(xlabel="k", yscale="log", ylim=(0.8 * LEAST, 1.4))
    ax.set_ylabel("share of variance") if ax.get_subplotspec().is_first_col() else None


def _share(ax, sparsity):
    panels.curves(ax, sparsity, "auxiliary_share", "samples", "protocol")
    truth = float(sparsity["auxiliary_share_teacher"][0])
    ax.axhline(truth, color="0.4", linewidth=1, linestyle=":", label="ground truth")
    log_axes.samples(ax, panels.values(sparsity, "samples"))
    ax.set(xlabel=labels.label(sparsity, "samples"), ylim=(-0.02, 1.02))
    ax.set_ylabel("share of the norm") if ax.get_subplotspec().is_first_col() else None


def _by_overlap(figure, sparsity, overlaps, panel):
    for ax, overlap in zip(figure.subplots(1, len(overlaps), sharey=True), overlaps, strict=True):
        panel(ax, panels.where(sparsity, overlap=overlap))
        ax.set_title(panels.name(sparsity, "overlap", overlap))
