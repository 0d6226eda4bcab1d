"""What diagonal networks learn (Fig. 5 of the appendix): norms, auxiliary share and sparsity of their solutions."""

import matplotlib.pyplot as plt
import numpy as np

from carryover.figures.drawing import layout, panels, relu
from carryover.runs import where

TRAINED = ("single_task", "multi_task", "finetuning")
LEAST = 1e-4  # share of variance that is drawn
BARS = 5  # of a curve of e
APART = 0.14  # octaves between the curves of b, whose ranges overlap
PENALTIES = {"q_norm": ("of eq 22, which takes both paths alike", "-"), "flow_penalty": ("of their own weights", "--")}
TRUTH = {"color": "0.4", "linestyle": ":", "label": "ground truth"}


def draw(data, p):
    """Panels a–f. Roles: `norms` and `sparsity` of the overlap experiment, `rescaled` sparsity of the nested one."""
    sparsity = data["sparsity"]
    sparsity = sparsity.assign(outside=(1 - sparsity["top_k_variance"]).clip(min=LEAST))
    full = where(data["norms"], overlap=panels.values(sparsity, "overlap")[-1])
    full = full.isel(run=np.isin(full["protocol"].values, TRAINED))
    fig = plt.figure(figsize=(9.2, 12.4))
    top, middle, fifth, sixth = fig.subfigures(4, 1, height_ratios=[1.15, 1.2, 1, 1.1])

    left, right = top.subfigures(1, 2, width_ratios=[2, 1.1])
    linear, logarithmic = left.subplots(1, 2)
    _norm(linear, full, "l12_norm", "ℓ1,2 norm")
    _norm(logarithmic, full, "q_norm", "Q penalty of eq 22")
    logarithmic.set_yscale("log")
    layout.plain_decades(logarithmic.yaxis)
    left.suptitle("a  all features shared", fontsize="medium")
    layout.legend(left)
    # What finetuning minimises is near 1, where the panel beside has no room.
    tuned, ax = where(full, protocol="finetuning"), right.subplots()
    for quantity, (words, dashes) in PENALTIES.items():
        part, look = panels.relative(tuned, quantity), {"color": panels.COLORS["finetuning"], "linestyle": dashes}
        panels.spread(ax, part, quantity, "samples", words, **look)
    _ground_truth(ax, tuned)
    right.suptitle(f"a′  penalty of {panels.name(full, 'protocol', 'finetuning')}", fontsize="medium")
    layout.legend(right, columns=1)

    second, third, fourth = middle.subfigures(1, 3)
    _rescaled_share(second.subplots(), data["rescaled"])
    _by_samples(third.subplots(), where(sparsity, overlap=panels.values(sparsity, "overlap")[-1]))
    _norm(fourth.subplots(), where(full, protocol="single_task"), "l1_norm", "d  ℓ1 norm, by samples")
    for part in (second, third, fourth):
        layout.legend(part, columns=2)

    variance = f"e  variance outside the k largest weights, by overlap (n = {p.samples})"
    share = "f  share of the weight norm in the auxiliary dimensions, by overlap"
    for figure, title, panel, runs, label in ((fifth, variance, _outside, where(sparsity, samples=p.samples), "variance"),
                                              (sixth, share, _share, sparsity, "the norm")):  # fmt: skip
        columns = relu.by_value(runs, "overlap", "overlap {:g}")
        layout.group(title, columns, panel, f"share of {label}")[1](figure)
    spread = panels.spread_in_words(data["norms"], "band or bars")
    layout.legend(sixth, spread, "b: points moved apart", f"c, e: below {LEAST:g} drawn there")
    layout.suptitle(fig, p.title)
    return fig


def _norm(ax, norms, quantity, title):
    """A norm of the solutions relative to the teacher's own."""
    panels.curves(ax, panels.relative(norms, quantity), quantity, "samples", "protocol")
    _ground_truth(ax, norms)
    ax.set_title(title)


def _ground_truth(ax, norms):
    ax.axhline(1, linewidth=0.8, **TRUTH)
    layout.name_values(ax, norms, "samples")
    ax.set_ylabel("relative to ground truth")


def _rescaled_share(ax, sparsity):
    """Panel b: as many new features as the auxiliary task has, by rescaling."""
    most = panels.values(sparsity, "main_features")[-1]
    shown = where(sparsity, protocol="finetuning", overlap=0.0, main_features=most)
    factors = [*panels.colored(shown, "rescale")]
    for place, (factor, runs, color) in enumerate(factors):
        moved = panels.dodged(runs, "samples", place, len(factors), APART)
        panels.spread(ax, moved, "auxiliary_share", "samples", f"rescaled × {factor:g}", bars=True, color=color)
    layout.name_values(ax, shown, "samples")
    ax.set(title="b  auxiliary share of PT+FT, new features", ylabel="share of the weight norm", ylim=(-0.02, 1.02))


def _by_samples(ax, sparsity):
    """Panel c: both layers trained against the readout alone."""
    for n, runs, color in panels.colored(sparsity, "samples", panels.values(sparsity, "samples")[1::2]):
        for protocol, style in (("single_task", "-"), ("single_task_probe", "--")):
            label = f"{panels.name(runs, 'protocol', protocol)}, n = {n}"
            panels.profile(ax, where(runs, protocol=protocol), "outside", "k", label, color=color, linestyle=style)
    ax.set(title="c  variance outside the k largest", ylabel="share of variance")
    _against_k(ax)


def _outside(ax, sparsity):
    """A panel of e, with bars of the curves beside one another."""
    protocols, step = panels.values(sparsity, "protocol"), max(1, sparsity.sizes["k"] // BARS)
    for place, protocol in enumerate(protocols):
        runs, bars = where(sparsity, protocol=protocol), slice(step * (place + 1) // len(protocols), None, step)
        label = panels.name(sparsity, "protocol", protocol)
        panels.profile(ax, runs, "outside", "k", label, bars, color=panels.COLORS[protocol])
    truth = 1 - sparsity["top_k_variance_teacher"].isel(run=0)
    ax.plot(sparsity["k"], truth.where(truth > LEAST), linewidth=1, **TRUTH)
    _against_k(ax)


def _against_k(ax):
    ax.set(xlabel="k", yscale="log", ylim=(0.8 * LEAST, 1.4))


def _share(ax, sparsity):
    """A panel of f."""
    panels.curves(ax, sparsity, "auxiliary_share", "samples", "protocol")
    ax.axhline(float(sparsity["auxiliary_share_teacher"][0]), linewidth=1, **TRUTH)
    layout.name_values(ax, sparsity, "samples")
    ax.set_ylim(-0.02, 1.02)
