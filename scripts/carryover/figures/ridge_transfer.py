"""Ridge regression of the readout after linear transfer: risk against the penalty, and the best penalty against the
number of samples ("Features are fate", Fig. 6)."""

import matplotlib.pyplot as plt
import numpy as np

from carryover.analysis.transferability import averages, best_ridge, only
from carryover.errors import UserError
from carryover.figures.drawing import layout, panels
from carryover.theory.transfer import optimal_ridge, ridge_transfer_risk

SMALLEST = 1e-4  # where a penalty of 0 is drawn on the logarithmic axis, if no smaller one is there


def draw(data, p):
    """Role: `risk` of linear transfer with several ridge penalties, angles and numbers of samples, of one noise."""
    risk = panels.where(data["risk"], protocol="linear_transfer")
    noise, sizes, ridges = only(risk, "noise"), panels.values(risk, "samples"), panels.values(risk, "ridge")
    if ridges[0] > 0 or len(ridges) < 2:
        raise UserError("this figure needs runs without a ridge penalty and with some.")
    frame = risk[["risk_final"]].to_dataframe()
    gammas = dict(zip(frame["samples"], frame["gamma"], strict=True))
    shown = min(sizes, key=lambda n: abs(np.log(gammas[n] / p.gamma)))
    fig, (many, few, best) = plt.subplots(1, 3, figsize=(11.5, 4.0))
    angles = sorted(frame["angle"].unique())
    apart = np.linspace(0.93, 1.07, len(angles))  # factors on n in c, so that bars are seen
    for angle, color, factor in zip(angles, panels.colors("angle", angles), apart, strict=True):
        rows = frame[frame["angle"] == angle]
        _risk(many, rows[rows["samples"] == shown], np.pi * angle, noise, color)
        _change(few, rows[rows["samples"] == sizes[0]], np.pi * angle, noise, color)
        _best(best, rows, np.pi * angle, noise, color, factor)

    def _titled(letter, n):
        return f"{letter}: n = {n}, γ = {gammas[n]:g}"

    many.set(xscale="log", xlabel="ridge penalty λ (leftmost: 0)", ylabel="risk", title=_titled("a", shown))
    few.axhline(0, color="0.6", linewidth=0.6)
    few.set(xscale="log", xlabel="ridge penalty λ", ylabel="risk less that at λ = 0", title=_titled("b", sizes[0]))
    few.set_ylim(-0.12, 0.25)
    best.set(xscale="log", yscale="log", xlabel="samples n", ylabel="best ridge penalty", title="c: best penalty by n")
    drawn = "bars: s.d. of draws in a, 2 s.e. in b, 95 % bootstrap intervals in c, where 0 stands at 10⁻⁴"
    return layout.finished(fig, p.title, f"σ = {noise:g}, {panels.seeds_in_words(risk)}", drawn, columns=3)


def _risk(ax, rows, theta, noise, color):
    samples, table = int(rows["samples"].iloc[0]), averages(rows, ("ridge",), "risk_final")
    fine = np.geomspace(SMALLEST, table["ridge"].max(), 200)
    label = f"θ = {theta / np.pi:g} π"
    ax.errorbar(
        table["ridge"].clip(lower=SMALLEST), table["mean"], table["std"], fmt="o", ms=3, color=color, label=label
    )
    _theories(ax, fine, lambda ridge, count: ridge_transfer_risk(theta, ridge, count, noise), samples, color)


def _change(ax, rows, theta, noise, color):
    """Risk less that without a penalty, seed by seed: much of what draws differ in is common to all penalties."""
    without = rows[rows["ridge"] == 0].set_index("seed")["risk_final"]
    change = rows["risk_final"].to_numpy() - without[rows["seed"]].to_numpy()
    table = averages(rows.assign(change=change)[rows["ridge"] > 0], ("ridge",), "change")
    ax.errorbar(table["ridge"], table["mean"], 2 * table["error"], fmt="o", ms=3, color=color)
    fine, samples = np.geomspace(SMALLEST, table["ridge"].max(), 200), int(rows["samples"].iloc[0])

    def theory(ridge, count):
        with_penalty, without = (ridge_transfer_risk(theta, one, count, noise) for one in (ridge, 0.0))
        return with_penalty - without

    _theories(ax, fine, theory, samples, color)


def _theories(ax, fine, theory, samples, color):
    """Equation 125 for so many samples, over the wide pale line of its limit, equation 13."""
    ax.plot(fine, theory(fine, None), color=color, linewidth=5, alpha=0.3, label="eq 13 (n → ∞)", zorder=1)
    ax.plot(fine, theory(fine, samples), color=color, linewidth=1, label="eq 125")


def _best(ax, frame, theta, noise, color, factor):
    """The penalty of the smallest mean risk at each number of samples, with its bootstrap interval."""
    samples = np.array(sorted(frame["samples"].unique()))
    ends = [np.maximum(best_ridge(frame[frame["samples"] == n]), SMALLEST) for n in samples]
    best, low, high = np.transpose(ends)
    ax.errorbar(factor * samples, best, (best - low, high - best), fmt="o", ms=3, color=color)
    ax.plot(samples, optimal_ridge(theta, noise, samples), "--", color=color, label="(sin²θ + σ²)/(n cos²θ)")
