"""Which bound predicts best how well finetuning does on pairs of tasks ("Finetuning with linear teachers", Table 1)."""

from functools import partial

from carryover.claims.support import checks, pair_correlations
from carryover.statistics import jackknife

STRONG = 0.5  # R² above which a correlation counts as strong


@checks.group("4.2, Table 1", "difference of two R² over pairs of tasks", estimate=jackknife.estimate)
def check(data, p):
    """Role: `bounds`, the measure of an experiment of the family image_pairs.

    Statistics are R² over pairs of tasks, differences of it, and the share of random sets of 20 pairs in which a bound
    correlates best, means over numbers of samples and repeats, for each cutoff. Their intervals are over the classes of
    images of the pairs: the paper's repeats are of the same pairs, and say nothing of others.
    """
    table = pair_correlations.pair_table(data["bounds"])
    correlations, shares = pair_correlations.leave_one_class_out(table), pair_correlations.first_shares(table)
    for cutoff in table["cutoff"].values:
        yield from _of_cutoff(p, table.sizes["pair"], cutoff, correlations, shares)


def _of_cutoff(p, pairs, cutoff, correlations, shares):
    learned = f"learned but for directions below {cutoff:g} of the largest" if cutoff else "learned by least squares"
    where = f"over {pairs} pairs of {p.images}, {learned}"
    strong = "The bound of eq 3 correlates strongly with the error after finetuning"
    above = "The bound of eq 3 correlates better with the error than that of benign overfitting"
    below = "The bound of benign overfitting correlates better with the error than |θ_T − θ_S|²"
    first = f"Of the three bounds that of eq 3 correlates best in most random sets of {pair_correlations.SET} pairs"
    r_squared = _means(correlations, cutoff)
    benign, covariance = r_squared["benign_overfitting"], r_squared["covariance"]
    rows = [
        ("strong", strong, covariance, STRONG, "R² over pairs of tasks", jackknife.R_SQUARED),
        ("covariance", above, covariance - benign, 0.0, None, jackknife.DIFFERENCE),
        ("benign_overfitting", below, benign - r_squared["distance"], 0.0, None, jackknife.DIFFERENCE),
    ]
    if shares is not None:
        share = _means(shares, cutoff)["covariance"]
        rows.append(("first", first, share, 0.5, "share of random sets of pairs", jackknife.SHARE))
    # The paper leaves no directions out, and has one set of pairs.
    section = checks.OWN if cutoff or pairs != pair_correlations.SET else None
    for name, statement, values, bound, measured, scale in rows:
        estimate = partial(jackknife.estimate, scale=scale)
        yield f"{name}_{cutoff:g}", f"{statement}, {where}", values, bound, section, measured, estimate


def _means(values, cutoff):
    """{bound: (1 + classes,) mean over numbers of samples}."""
    means = values.sel(cutoff=cutoff).mean("samples", skipna=False)
    return {bound: means.sel(bound=bound).values for bound in pair_correlations.BOUNDS}
