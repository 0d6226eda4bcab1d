"""What diagonal networks learn (Fig. 5 of the appendix): norms, auxiliary share and sparsity of their solutions."""

import numpy as np

from carryover.figures.drawing import layout, panels
from carryover.runs import where

TRAINED = ("single_task", "multi_task", "finetuning")
LEAST = 1e-4  # share of variance that is drawn
BARS = 5  # of a curve of e
APART = 0.14  # octaves between the curves of b, whose ranges overlap
PENALTIES = {"q_norm": ("of eq 22, which takes both paths alike", "-"), "flow_penalty": ("of their own weights", "--")}
TRUTH = {"color": "0.4", "linestyle": ":", "linewidth": 1, "label": "ground truth"}
NORM, WEIGHTS, VARIANCE = "relative to ground truth", "share of the weight norm", "share of variance"


def draw(data, p):
    """Panels a–f. Roles: `norms` and `sparsity` of the overlap experiment, `rescaled` sparsity of the nested one."""
    sparsity = data["sparsity"]
    sparsity = sparsity.assign(outside=(1 - sparsity["top_k_variance"]).clip(min=LEAST))
    most = panels.values(sparsity, "overlap")[-1]
    full = where(data["norms"], overlap=most)
    full = full.isel(run=np.isin(full["protocol"].values, TRAINED))
    features = panels.values(data["rescaled"], "main_features")[-1]
    new = where(data["rescaled"], protocol="finetuning", overlap=0.0, main_features=features)
    variances, shares = (panels.by_value(runs, "overlap", "overlap {:g}")
                         for runs in (where(sparsity, samples=p.samples), sparsity))  # fmt: skip
    name = panels.name(full, "protocol", "finetuning")
    # The penalty that finetuning minimises is near 1, where the panel beside a has no room.
    rows = [
        [layout.group("a  ℓ1,2 norm, all features shared", {"": full}, _norm("l12_norm"), NORM, width=1.3),
         layout.group("a  Q penalty of eq 22", {"": full}, _norm("q_norm", log=True), "", width=1.3),
         layout.group(f"a′  penalty of {name}", {"": where(full, protocol="finetuning")}, _penalties, "", width=1.4)],
        [layout.group("b  auxiliary share of PT+FT, new features", {"": new}, _by_factor, WEIGHTS, width=1.4),
         layout.group("c  variance outside the k largest", {"": where(sparsity, overlap=most)}, _by_samples, VARIANCE,
                      width=1.5),
         layout.group("d  ℓ1 norm, by samples", {"": where(full, protocol="single_task")}, _norm("l1_norm"), NORM,
                      width=1.1)],
        [layout.group(f"e  variance outside the k largest weights, by overlap (n = {p.samples})", variances, _outside,
                      VARIANCE)],
        [layout.group("f  share of the weight norm in the auxiliary dimensions", shares, _share, WEIGHTS)],
    ]  # fmt: skip
    spread = panels.spread_in_words(data["norms"], "band or bars")
    return layout.compose(rows, p.title, spread, "b: points moved apart", f"c, e: below {LEAST:g} drawn there")


def _norm(quantity, log=False):
    """A panel of a norm of the solutions relative to the teacher's own."""

    def panel(ax, norms):
        panels.curves(ax, panels.relative(norms, quantity), quantity, "samples", "protocol")
        _ground_truth(ax, norms)
        if log:
            ax.set_yscale("log")
            layout.plain_decades(ax.yaxis)

    return panel


def _penalties(ax, tuned):
    for quantity, (words, dashes) in PENALTIES.items():
        part, look = panels.relative(tuned, quantity), {"color": panels.COLORS["finetuning"], "linestyle": dashes}
        panels.spread(ax, part, quantity, "samples", words, **look)
    _ground_truth(ax, tuned)


def _ground_truth(ax, norms):
    ax.axhline(1, **TRUTH)
    layout.name_values(ax, norms, "samples")


def _by_factor(ax, runs):
    """Panel b: as many new features as the auxiliary task has, by rescaling."""
    factors = [*panels.colored(runs, "rescale")]
    for place, (factor, part, color) in enumerate(factors):
        moved = panels.dodged(part, "samples", place, len(factors), APART)
        panels.spread(ax, moved, "auxiliary_share", "samples", f"rescaled × {factor:g}", bars=True, color=color)
    layout.name_values(ax, runs, "samples")
    ax.set_ylim(-0.02, 1.02)


def _by_samples(ax, sparsity):
    """Panel c: both layers trained against the readout alone."""
    for n, runs, color in panels.colored(sparsity, "samples", panels.values(sparsity, "samples")[1::2]):
        for protocol, style in (("single_task", "-"), ("single_task_probe", "--")):
            label = f"{panels.name(runs, 'protocol', protocol)}, n = {n}"
            panels.profile(ax, where(runs, protocol=protocol), "outside", "k", label, color=color, linestyle=style)
    _against_k(ax)


def _outside(ax, sparsity):
    """A panel of e, with bars of the curves beside one another."""
    protocols, step = panels.values(sparsity, "protocol"), max(1, sparsity.sizes["k"] // BARS)
    for place, protocol in enumerate(protocols):
        runs, bars = where(sparsity, protocol=protocol), slice(step * (place + 1) // len(protocols), None, step)
        label = panels.name(sparsity, "protocol", protocol)
        panels.profile(ax, runs, "outside", "k", label, bars, color=panels.COLORS[protocol])
    truth = 1 - sparsity["top_k_variance_teacher"].isel(run=0)
    ax.plot(sparsity["k"], truth.where(truth > LEAST), **TRUTH)
    _against_k(ax)


def _against_k(ax):
    ax.set(xlabel="k", yscale="log", ylim=(0.8 * LEAST, 1.4))


def _share(ax, sparsity):
    """A panel of f."""
    panels.curves(ax, sparsity, "auxiliary_share", "samples", "protocol")
    ax.axhline(float(sparsity["auxiliary_share_teacher"][0]), **TRUTH)
    layout.name_values(ax, sparsity, "samples")
    ax.set_ylim(-0.02, 1.02)
