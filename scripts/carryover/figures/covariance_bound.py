"""The bound by the covariance of the data ("Finetuning with linear teachers", theorem 4.2): beside the risk on random
instances, with the constant that fits, and its terms over the number of samples."""

import matplotlib.pyplot as plt
import numpy as np

from carryover.figures.drawing import layout

KINDS = {
    "top": ("tasks differ along top eigenvectors", "#009E73"),
    "bottom": ("along bottom eigenvectors", "#CC79A7"),
    "random": ("along all", "0.4"),
}

LARGEST_RISK = 1.0  # λ₁|Δ|², of instances of which both factors are 1


def draw(data, p):
    """Role: `curve` of curves.covariance_bound."""
    curve = data["curve"]
    fig, (left, middle, right) = plt.subplots(1, 3, figsize=(11.5, 4.0))
    c, tested = float(curve["c"]), curve.isel(instance=curve["half"].values == 1)
    bound = c**3 * tested["top_unit"] + c * tested["bottom_unit"]
    for kind, (label, color) in KINDS.items():
        which = tested["alignment"].values == kind
        left.plot(bound[which], tested["risk"][which], ".", ms=3, color=color, label=label)
    ends = np.array([float(bound.min()), float(bound.max())])
    left.plot(ends, ends, "k--", linewidth=1, label="risk = bound")
    left.set(xscale="log", yscale="log", xlabel=f"bound of eq 3 with c = {c:.2f}", ylabel="risk")
    left.set_ylim(bottom=max(float(tested["risk"].min()), 1e-6))
    left.axvspan(LARGEST_RISK, ends[1], color="0.9", linewidth=0, zorder=0, label="bound above any possible risk")
    left.set_title(f"a: in {np.mean(bound.values > LARGEST_RISK):.0%} the bound exceeds any possible risk")
    _needed(middle, curve)
    _terms(right, curve)
    note = "a: constant fitted on one half of the instances, the other half shown; no risk exceeds λ₁|Δ|² = 1"
    return layout.finished(fig, p.title, note, columns=4)


def _needed(ax, curve):
    """How large a constant each instance needs, for the risk and for the estimate of the covariance."""
    for name, label, color in (("needed", "for the risk (eq 3)", "#0072B2"),
                               ("estimation_needed", "for |Σ̃ − Σ| ≤ g", "#D55E00")):  # fmt: skip
        ax.hist(curve[name], bins=60, histtype="step", color=color, label=label)
        fitted = float(curve[{"needed": "c", "estimation_needed": "c_estimation"}[name]])
        ax.axvline(fitted, color=color, linestyle=":", linewidth=1)
    ax.set(
        xlabel="constant c that an instance needs",
        ylabel="instances",
        yscale="log",
        title="b: constants (dotted: fitted)",
    )


def _terms(ax, curve):
    samples = curve["samples"].values.astype(float)
    for name, label, power, kind in (("top_term", "top term", -1.5, "top"),
                                     ("bottom_term", "bottom term", -0.5, "bottom")):  # fmt: skip
        color = KINDS[kind][1]
        values = curve[name].values
        ax.plot(samples, values, "o-", ms=3, color=color, label=label)
        ax.plot(samples, values[-1] * (samples / samples[-1]) ** power, ":", color=color, label=f"$n^{{{power:g}}}$")
    ax.set(xscale="log", yscale="log", xlabel="samples n", ylabel="terms of the bound at c = 1")
    ax.set_title("c: terms for the spectrum of Fig. 1")
