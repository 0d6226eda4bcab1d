"""R² between the error of finetuning on pairs of image tasks and three bounds on it, along the samples, beside the
published; and the error against one bound ("Finetuning with linear teachers", Table 1)."""

from dataclasses import dataclass

import matplotlib.pyplot as plt

from carryover.analysis import r_squared
from carryover.config.parameters import parameter
from carryover.drawing import layout, panels
from carryover.errors import UserError

COLORS = dict(zip(r_squared.BOUNDS, ("#0072B2", "#E69F00", "#D55E00"), strict=True))


@dataclass(frozen=True, kw_only=True)
class Parameters:
    title: str = parameter("On scikit-learn's digits, how well bounds follow the error depends on which singular "
                           "directions the regression keeps", "what is seen")  # fmt: skip
    bound: str = parameter("covariance", "bound of the lower panels", choices=tuple(r_squared.BOUNDS))
    samples: int = parameter(10, "images of the target task in the lower panels", minimum=1)


def draw(data, p):
    """Roles: `bounds`, the measure of an experiment of the family image_pairs, and `published`, the paper's table.

    A column per cutoff. Above: R² along the samples, mean over repeats and their deviation. Below: a point per pair of
    tasks, mean over repeats and their deviation.
    """
    runs, ours = r_squared.finetuned(data["bounds"]), r_squared.r_squared(data["bounds"])
    cutoffs = sorted(runs["cutoff"].unique())
    fig, axes = plt.subplots(2, len(cutoffs), figsize=(1.2 + 3.6 * len(cutoffs), 7.0), sharey="row", squeeze=False)
    for (above, below), cutoff in zip(axes.T, cutoffs, strict=True):
        _correlations(above, ours.xs(cutoff, level="cutoff"), data["published"])
        _scatter(below, runs[runs["cutoff"] == cutoff], ours.xs(cutoff, level="cutoff"), p)
        above.set_title(f"directions above {cutoff:g} of the largest" if cutoff else "least squares")
    axes[0, 0].set(ylabel="R² of error and bound over pairs", ylim=(0, 1))
    axes[1, 0].set_ylabel("misclassified share of held-out images")
    counted = f"{runs['pair'].nunique()} pairs, {panels.seeds_in_words(runs)}, {runs['pixels'].iloc[0]} pixels"
    return layout.finished(fig, p.title, counted, "mean and standard deviation over seeds", columns=3)


def _correlations(ax, ours, table):
    for bound, name in r_squared.BOUNDS.items():
        repeats = ours[bound].groupby("samples")
        mean, deviation = repeats.mean(), repeats.std().fillna(0)
        style = {"marker": "o", "ms": 4, "color": COLORS[bound]}
        panels.band(ax, mean.index, mean, mean - deviation, mean + deviation, name, **style)
        theirs, _ = r_squared.published(table, bound)
        ax.plot(theirs.index, theirs, "--", color=COLORS[bound], label=f"{name}, published (MNIST)")
    ax.set(xlabel="target samples n", xticks=sorted(ours.index.unique("samples")))


def _scatter(ax, runs, ours, p):
    runs = runs[runs["samples"] == p.samples]
    if runs.empty:
        known = ", ".join(f"{n:g}" for n in sorted(ours.index.unique("samples")))
        raise UserError(f"no run has {p.samples} samples; this figure's option samples must be one of {known}.")
    pairs = runs.groupby("pair")[[p.bound, "risk_final"]]
    mean, deviation = pairs.mean(), pairs.std().fillna(0)
    ax.errorbar(mean[p.bound], mean["risk_final"], deviation["risk_final"], deviation[p.bound], fmt="o", ms=4,
                color=COLORS[p.bound], elinewidth=0.7)  # fmt: skip
    share = ours[p.bound].xs(p.samples, level="samples").mean()
    ax.set(xlabel=f"bound: {r_squared.BOUNDS[p.bound]}", title=f"n = {p.samples}: R² = {share:.2f}")
    ax.set_xlim(left=0)
