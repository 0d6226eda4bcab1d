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
CONSTANTS = (
    ("needed", "c", "for the risk (eq 3)", "#0072B2"),
    ("estimation_needed", "c_estimation", "for |Σ̃ − Σ| ≤ g", "#D55E00"),
)
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

    for needed, fitted, label, color in CONSTANTS:
        middle.hist(curve[needed], bins=60, histtype="step", color=color, label=label)
        middle.axvline(float(curve[fitted]), color=color, linestyle=":", linewidth=1)
    middle.set(xlabel="constant c that an instance needs", ylabel="instances", yscale="log")
    middle.set_title("b: constants (dotted: fitted)")

    samples = curve["samples"].values.astype(float)
    for kind, power in (("top", -1.5), ("bottom", -0.5)):
        values, color = curve[f"{kind}_term"].values, KINDS[kind][1]
        right.plot(samples, values, "o-", ms=3, color=color, label=f"{kind} term")
        law = values[-1] * (samples / samples[-1]) ** power
        right.plot(samples, law, ":", color=color, label=f"$n^{{{power:g}}}$")
    right.set(xscale="log", yscale="log", xlabel="samples n", ylabel="terms of the bound at c = 1")
    right.set_title("c: terms for the spectrum of Fig. 1")
    note = "a: constant fitted on one half of the instances, the other half shown; no risk exceeds λ₁|Δ|² = 1"
    return layout.finish(fig, p.title, note, columns=4)
