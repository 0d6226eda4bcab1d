"""Which bound tells best how well finetuning does on a pair of tasks ("Finetuning with linear teachers", Table 1)."""

from functools import partial

from carryover.analysis import intervals, jackknife, r_squared


@intervals.claims("4.2, Table 1", "difference of two R² over pairs of tasks", estimate=jackknife.estimate)
def check(data, p):
    """Role: `bounds`, the measure of an experiment of the family image_pairs.

    Statistics are R² over pairs of tasks, differences of it, and the share of random sets of 20 pairs in which a bound
    correlates best, means over numbers of samples and repeats, for each cutoff. Their intervals are over the classes
    of images that pairs are of: the paper's repeats are of the same pairs, and say nothing of others.
    """
    table = r_squared.arranged(data["bounds"])
    found, shares = r_squared.without_each(table), r_squared.first_shares(table)
    rows = []
    for cutoff in table["cutoff"].values:
        means = (None if values is None else _means(values, cutoff) for values in (found, shares))
        rows += _claims(p, table.sizes["pair"], cutoff, *means)
    return rows


def _means(values, cutoff):
    """{bound: (1 + classes,) mean over numbers of samples}."""
    means = values.sel(cutoff=cutoff).mean("samples", skipna=False)
    return {bound: means.sel(bound=bound).values for bound in r_squared.BOUNDS}


def _claims(p, pairs, cutoff, found, shares):
    learned = f"learned but for directions below {cutoff:g} of the largest" if cutoff else "learned by least squares"
    where = f"over {pairs} pairs of {p.images}, {learned}"
    strong = "The bound of eq 3 correlates strongly with the error after finetuning"
    above = "The bound of eq 3 correlates better with the error than that of benign overfitting"
    below = "The bound of benign overfitting correlates better with the error than |θ_T − θ_S|²"
    first = f"Of the three bounds that of eq 3 correlates best in most random sets of {r_squared.SET} pairs"
    benign, covariance = found["benign_overfitting"], found["covariance"]
    rows = [
        ("strong", strong, covariance, p.strong, "R² over pairs of tasks", jackknife.R_SQUARED),
        ("covariance", above, covariance - benign, 0.0, None, jackknife.DIFFERENCE),
        ("benign_overfitting", below, benign - found["distance"], 0.0, None, jackknife.DIFFERENCE),
    ]
    if shares:
        rows.append(("first", first, shares["covariance"], 0.5, "share of random sets of pairs", jackknife.SHARE))
    # The paper leaves no directions out, and has one set of pairs.
    section = intervals.OWN if cutoff or pairs != r_squared.SET else None
    return [intervals.Claim(f"{name}_{cutoff:g}", f"{statement}, {where}", values, bound, section, measured,
                            partial(jackknife.estimate, scale=scale))
            for name, statement, values, bound, measured, scale in rows]  # fmt: skip
