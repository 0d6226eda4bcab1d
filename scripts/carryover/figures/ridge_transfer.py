"""Ridge regression of the readout after linear transfer: risk against the penalty, and the best penalty against the
number of samples ("Features are fate", Fig. 6)."""

import matplotlib.pyplot as plt
import numpy as np

from carryover.claims.support.runs import only
from carryover.figures.drawing import layout, panels
from carryover.runs import where
from carryover.statistics.averages import averages, best
from carryover.streams import generator
from carryover.theory.transfer import optimal_ridge, ridge_transfer_risk

GAMMA = 0.5  # the paper's samples per dimension, of panel a
SMALLEST = 1e-4  # where a penalty of 0 is drawn on the logarithmic axis


def draw(data, p):
    """Role: `risk` of linear transfer without and with ridge penalties, over angles and numbers of samples."""
    risk = where(data["risk"], protocol="linear_transfer")
    noise, sizes, ridges = only(risk, "noise"), panels.values(risk, "samples"), panels.values(risk, "ridge")
    frame = risk[["risk_final"]].to_dataframe()
    gammas = dict(zip(frame["samples"], frame["gamma"], strict=True))
    shown = min(sizes, key=lambda n: abs(np.log(gammas[n] / GAMMA)))
    fig, (many, few, penalty) = plt.subplots(1, 3, figsize=(11.5, 4.0))
    angles = sorted(frame["angle"].unique())
    apart = np.linspace(0.93, 1.07, len(angles))  # factors on n in c, so that bars are seen
    fine = np.geomspace(SMALLEST, ridges[-1], 200)
    for angle, color, factor in zip(angles, panels.colors("angle", angles), apart, strict=True):
        theta, points = np.pi * angle, {"fmt": "o", "ms": 3, "color": color}
        rows = frame[frame["angle"] == angle]
        draws = {n: rows[rows["samples"] == n].pivot(index="seed", columns="ridge", values="risk_final") for n in sizes}

        table = averages(rows[rows["samples"] == shown], ("ridge",), "risk_final")
        x, label = table["ridge"].clip(lower=SMALLEST), f"θ = {angle:g} π"
        many.errorbar(x, table["mean"], table["std"], label=label, **points)

        # Risk less that without a penalty, seed by seed: much of what draws differ in is common to all penalties.
        change = draws[sizes[0]].sub(draws[sizes[0]][0.0], axis=0).drop(columns=0.0)
        few.errorbar(change.columns, change.mean(), 2 * change.sem(), **points)

        # Equation 125 for so many samples, over the wide pale line of its limit, equation 13.
        wide = {"linewidth": 5, "alpha": 0.3, "label": "eq 13 (n → ∞)", "zorder": 1}
        thin = {"linewidth": 1, "label": "eq 125"}
        for counts, style in (((None, None), wide), ((shown, sizes[0]), thin)):
            above, less = (ridge_transfer_risk(theta, fine, n, noise) for n in counts)
            less = less - ridge_transfer_risk(theta, 0.0, counts[1], noise)
            many.plot(fine, above, color=color, **style)
            few.plot(fine, less, color=color, **style)

        found = [best(draws[n], generator("best ridge", "", 0, "bootstrap")) for n in sizes]
        found = np.maximum(np.transpose(found), SMALLEST)
        panels.points(penalty, factor * np.array(sizes), found, **points)
        optimum = optimal_ridge(theta, noise, np.array(sizes))
        penalty.plot(sizes, optimum, "--", color=color, label="(sin²θ + σ²)/(n cos²θ)")
    a, b = (f"n = {n}, γ = {gammas[n]:g}" for n in (shown, sizes[0]))
    many.set(xscale="log", xlabel="ridge penalty λ (leftmost: 0)", ylabel="risk", title=f"a: {a}")
    few.axhline(0, color="0.6", linewidth=0.6)
    few.set(xscale="log", xlabel="ridge penalty λ", ylabel="risk less that at λ = 0", title=f"b: {b}")
    few.set_ylim(-0.12, 0.25)
    penalty.set(xscale="log", yscale="log", xlabel="samples n", ylabel="best ridge penalty")
    penalty.set_title("c: best penalty by n")
    note = "bars: s.d. of draws in a, 2 s.e. in b, which is cut above, 95 % bootstrap intervals in c, 0 drawn at 10⁻⁴"
    return layout.finish(fig, p.title, f"σ = {noise:g}, {panels.seeds_in_words(risk)}", note, columns=3)
