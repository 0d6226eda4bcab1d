"""Which bound predicts best how well finetuning does on pairs of tasks ("Finetuning with linear teachers", Table 1)."""

from functools import partial

from carryover.claims.support import pair_correlations
from carryover.claims.support.checks import Check, checks
from carryover.statistics import jackknife


def check(data, p):
    """Role: `bounds`, the measure of an experiment of the family image_pairs.

    Statistics are R² over pairs of tasks, differences of it, and the share of random sets of 20 pairs in which a bound
    correlates best, means over numbers of samples and repeats, for each cutoff. Their intervals are over the classes of
    images of the pairs: the paper's repeats are of the same pairs, and say nothing of others.
    """
    table = pair_correlations.pair_table(data["bounds"])
    correlations, shares = pair_correlations.leave_one_class_out(table), pair_correlations.first_shares(table)
    found = {}
    for cutoff in table["cutoff"].values:
        r_squared = _means(correlations, cutoff)
        benign, covariance = r_squared["benign_overfitting"], r_squared["covariance"]
        values = {
            "strong": (covariance, jackknife.R_SQUARED),
            "covariance": (covariance - benign, jackknife.DIFFERENCE),
            "benign_overfitting": (benign - r_squared["distance"], jackknife.DIFFERENCE),
        }
        if shares is not None:
            values["first"] = _means(shares, cutoff)["covariance"], jackknife.SHARE
        learned = (
            f"learned but for directions below {cutoff:g} of the largest" if cutoff else "learned by least squares"
        )
        found |= checks(
            {f"{name}_{cutoff:g}": Check(one, partial(jackknife.estimate, scale=scale))
             for name, (one, scale) in values.items()},
            pairs=table.sizes["pair"], images=p.images, learned=learned,
        )  # fmt: skip
    return found


def _means(values, cutoff):
    """{bound: (1 + classes,) mean over numbers of samples}."""
    means = values.sel(cutoff=cutoff).mean("samples", skipna=False)
    return {bound: means.sel(bound=bound).values for bound in pair_correlations.BOUNDS}
