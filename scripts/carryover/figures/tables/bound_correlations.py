"""R² between the error of finetuning and bounds on it, beside the published ("Finetuning with linear teachers",
Table 1), and how often each bound is the first of the three."""

import pandas as pd

from carryover.claims import bound_correlations
from carryover.statistics import jackknife


def rows(data, p):
    """Roles: `bounds`, the measure of an experiment of the family image_pairs, and `published`, the paper's table.

    A data frame of texts: for each bound and cutoff of ours the mean ± deviation over repeats, as in the paper, and the
    mean's 95 % interval over classes of images; where there are pairs enough, the share of random sets of 20 in which
    the bound has the highest R², with its interval; and the published R². A column per number of samples of ours.
    """
    table = bound_correlations.pair_table(data["bounds"])
    ours = bound_correlations.r_squared(table)
    found, shares = bound_correlations.leave_one_class_out(table), bound_correlations.first_shares(table)
    sizes, texts = table["samples"].values.tolist(), []

    def estimates(values, scale, form):
        """A text for each number of samples, of the jackknife's estimate."""
        every = (jackknife.estimate(values.sel(samples=n).values, 0.0, scale) for n in sizes)
        return [form.format(**one) for one in every]

    for bound, name in bound_correlations.BOUNDS.items():
        for cutoff in table["cutoff"].values:
            label = f"ours, cutoff {cutoff:g}" if cutoff else "ours, least squares"
            at = {"bound": bound, "cutoff": cutoff}
            repeats = ours.sel(at)
            means, deviations = repeats.mean("seed", skipna=False).values, repeats.std("seed", ddof=1).values
            texts.append((name, f"{label}: R², mean ± s.d.", *map(_spread, means, deviations)))
            ends = estimates(found.sel(at), jackknife.R_SQUARED, "{low:.2f} to {high:.2f}")
            texts.append((name, f"{label}: R², 95 % interval", *ends))
            if shares is not None:
                cells = estimates(shares.sel(at), jackknife.SHARE, "{statistic:.2f} ({low:.2f} to {high:.2f})")
                texts.append((name, f"{label}: first in sets of {bound_correlations.SET}", *cells))
        theirs = (values.reindex(sizes) for values in bound_correlations.published(data["published"], bound))
        texts.append((name, "published (MNIST): R², mean ± s.d.", *map(_spread, *theirs)))
    return pd.DataFrame(texts, columns=["bound", "", *(f"n = {n:g}" for n in sizes)])


def _spread(mean, deviation):
    return "" if pd.isna(mean) else f"{mean:.2f} ± {deviation:.2f}"
