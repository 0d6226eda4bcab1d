"""R² between the error of finetuning on pairs of image tasks and three bounds on it, along the samples, beside the
published; how often each is the first; and the error against one ("Finetuning with linear teachers", Table 1)."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from carryover.claims import bound_correlations
from carryover.figures.drawing import layout, panels
from carryover.runs import where
from carryover.statistics import jackknife

COLORS = dict(zip(bound_correlations.BOUNDS, ("#0072B2", "#E69F00", "#D55E00"), strict=True))
DRAWN = "covariance"  # bound of the lower panels
SAMPLES = 10  # images of the target task in the lower panels
CROWD = 200  # pairs that are drawn as small points, without their spread


def draw(data, p):
    """Roles: `bounds`, the measure of an experiment of the family image_pairs, and `published`, the paper's table.

    A column per cutoff. Above: R² along the samples, mean over repeats. Then, where there are pairs enough, the share
    of random sets of 20 pairs in which a bound has the highest R². Bars are intervals over classes of images. Below: a
    point per pair of tasks, mean over repeats and, of few pairs, their deviation.
    """
    runs, table = where(data["bounds"], protocol="finetuning"), bound_correlations.pair_table(data["bounds"])
    found, shares = bound_correlations.leave_one_class_out(table), bound_correlations.first_shares(table)
    count = table.sizes["pair"]
    cutoffs, rows = table["cutoff"].values.tolist(), 2 if shares is None else 3
    size = (1.2 + 3.6 * len(cutoffs), 0.4 + 3.3 * rows)
    fig, axes = plt.subplots(rows, len(cutoffs), figsize=size, sharey="row", squeeze=False)
    for (top, *between, bottom), cutoff in zip(axes.T, cutoffs, strict=True):
        _along(top, found.sel(cutoff=cutoff), jackknife.R_SQUARED, data["published"])
        top.set_title(f"directions above {cutoff:g} of the largest" if cutoff else "least squares")
        for ax in between:
            _along(ax, shares.sel(cutoff=cutoff), jackknife.SHARE)
        pairs = where(runs, cutoff=cutoff, samples=SAMPLES).to_dataframe().groupby("pair")[[DRAWN, "risk_final"]]
        mean, deviation, color = pairs.mean(), pairs.std().fillna(0), COLORS[DRAWN]
        if count > CROWD:
            bottom.plot(mean[DRAWN], mean["risk_final"], ".", ms=2, alpha=0.4, color=color)
        else:
            ends = deviation["risk_final"], deviation[DRAWN]
            bottom.errorbar(mean[DRAWN], mean["risk_final"], *ends, fmt="o", ms=4, color=color, elinewidth=0.7)
        share = np.corrcoef(mean[DRAWN], mean["risk_final"])[0, 1] ** 2
        bottom.set(xlabel=f"bound: {bound_correlations.BOUNDS[DRAWN]}")
        bottom.set(title=f"n = {SAMPLES}: R² of these means {share:.2f}", xlim=(0, None))
    axes[0, 0].set(ylabel="R² of error and bound over pairs", ylim=(0, 1))
    if shares is not None:
        first = f"share of sets of {bound_correlations.SET} pairs\nin which the bound is first"
        axes[1, 0].set(ylabel=first, ylim=(-0.03, 1.03))
    axes[-1, 0].set_ylabel("misclassified share of held-out images")
    axes[0, 0].annotate("dashed: published, of MNIST", (0.98, 0.98), va="top", ha="right", fontsize="small",
                        xycoords="axes fraction")  # fmt: skip
    counted = f"{count} pairs, {panels.seeds_in_words(runs)}, {runs['pixels'].values[0]} pixels"
    points = "a point per pair" if count > CROWD else "mean and standard deviation over seeds"
    spread = f"bars above: 95 % jackknife over classes; below: {points}"
    return layout.finish(fig, p.title, counted, spread, columns=3)


def _along(ax, values, scale, table=None):
    """A line per bound along the samples with its intervals, and, of R², dashed what was published."""
    sizes = values["samples"].values
    apart = 0.06 * (np.diff(sizes).min() if len(sizes) > 1 else 1)  # so that bars do not hide each other
    for place, (bound, name) in enumerate(bound_correlations.BOUNDS.items()):
        found = [jackknife.estimate(values.sel(bound=bound, samples=n).values, 0.0, scale) for n in sizes]
        found, color, x = pd.DataFrame(found), COLORS[bound], sizes + (place - 1) * apart
        ax.plot(x, found["statistic"], "o-", ms=4, color=color, label=name)
        ax.vlines(x, found["low"], found["high"], color=color, alpha=0.5)
        if table is not None:
            theirs, _ = bound_correlations.published(table, bound)
            ax.plot(theirs.index, theirs, "--", color=color, label=f"{name}, published (MNIST)")
    ax.set(xlabel="target samples n", xticks=sizes)
