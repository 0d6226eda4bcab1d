"""R² between the error of finetuning and bounds on it, beside the published ("Finetuning with linear teachers",
Table 1)."""

import pandas as pd

from carryover.analysis import intervals, r_squared
from carryover.config.parameters import NoParameters

Parameters = NoParameters


def rows(data, p):
    """Roles: `bounds`, the measure of an experiment of the family image_pairs, and `published`, the paper's table.

    A data frame of texts: for each bound and cutoff of ours the mean ± deviation over repeats and the mean's 95 %
    interval (Student's t over repeats, whose pairs of tasks are the same), and the published; a column per number of
    samples of ours.
    """
    ours = r_squared.r_squared(data["bounds"])
    sizes = sorted(ours.index.unique("samples"))
    texts = []
    for bound, name in r_squared.BOUNDS.items():
        for cutoff, part in ours[bound].groupby("cutoff"):
            table = part.droplevel("cutoff").unstack("samples")[sizes]
            label = f"ours, cutoff {cutoff:g}" if cutoff else "ours, least squares"
            texts.append((name, f"{label}: mean ± s.d.", *map(_spread, table.mean(), table.std())))
            ends = (intervals.student(table[n], bound, 0.0) for n in sizes)
            texts.append((name, f"{label}: 95 % interval", *(f"{one['low']:.2f} to {one['high']:.2f}" for one in ends)))
        theirs = zip(*(values.reindex(sizes) for values in r_squared.published(data["published"], bound)), strict=True)
        texts.append((name, "published (MNIST)", *(_spread(*cell) for cell in theirs)))
    return pd.DataFrame(texts, columns=["bound", "R²", *(f"n = {n:g}" for n in sizes)])


def _spread(mean, deviation):
    return "" if pd.isna(mean) else f"{mean:.2f} ± {deviation:.2f}"
