"""Which bound predicts best how well finetuning does on pairs of tasks ("Finetuning with linear teachers", Table 1): R²
over pairs of the error with each bound."""

from functools import partial

import numpy as np
import xarray as xr

from carryover.claims.support.checks import Check, checks
from carryover.statistics import jackknife
from carryover.streams import generator

BOUNDS = {
    "distance": "squared distance of source and target",
    "benign_overfitting": "benign overfitting",
    "covariance": "covariance of the target (m = 2)",
}
SCALES = {
    "strong": jackknife.R_SQUARED,
    "above_benign": jackknife.DIFFERENCE,
    "above_distance": jackknife.DIFFERENCE,
    "first": jackknife.SHARE,
}
"""{check: scale on which its statistic has an interval}."""
SET = 20  # pairs in the paper's table
SETS = 5000
ENOUGH = 10 * SET  # pairs from which sets of 20 are drawn: with fewer, sets would be nearly the same


def in_words(estimator):
    """How an estimator of the family image_pairs found the coefficients of a task."""
    kind, _, number = estimator.partition("_")
    words = {"cutoff": f"without directions below {number} of the largest", "ridge": f"ridge of {number} λ₁",
             "descent": f"{number} steps of 1/λ₁"}  # fmt: skip
    return words.get(kind, "least squares")


def bound_correlations(data, p):
    """Role: `bounds`, the measure of an experiment of the family image_pairs.

    Statistics are R² over pairs of tasks, differences of R², and the share of random sets of 20 pairs in which a bound
    correlates best: means over numbers of samples and repeats, for each estimator. Intervals leave out one class of
    images at a time, since the paper's repeats use the same pairs and do not show how other pairs would differ.
    """
    table = pair_table(data["bounds"], p.constant)
    r_squared, shares = leave_one_class_out(table), first_shares(table)
    results = {}
    for estimator in table["estimator"].values:
        of_estimator = r_squared.sel(estimator=estimator).mean("samples", skipna=False)
        distance, benign, covariance = (of_estimator.sel(bound=bound) for bound in BOUNDS)
        values = {"strong": covariance, "above_benign": covariance - benign, "above_distance": covariance - distance}
        if shares is not None:
            values["first"] = shares.sel(bound="covariance", estimator=estimator).mean("samples", skipna=False)
        by_name = {f"{name}_{estimator}": Check(value.values, partial(jackknife.estimate, scale=SCALES[name]))
                   for name, value in values.items()}  # fmt: skip
        results |= checks(by_name, pairs=table.sizes["pair"], images=p.images, learned=in_words(estimator))
    return results


def pair_table(data, constant=1.0):
    """The finetuned runs of the measure `bounds`, arranged by pair: a dataset of `error` (estimator, seed, samples,
    pair), `bounds`, along `bound` too, and `has` (pair, label), the classes of a pair.

    The bound of eq 3 is that with the constant c over c; a multiple has the same R². At 0 its second term is left.
    """
    runs = data.to_dataframe().query("protocol == 'finetuning'")
    runs["covariance"] += (constant**2 - 1) * runs["covariance_top"]
    estimators = runs["estimator"].unique()
    table = runs.set_index(["estimator", "seed", "samples", "pair"])[["risk_final", *BOUNDS]].to_xarray()
    table = table.sel(estimator=estimators)
    pairs = runs.drop_duplicates("pair").set_index("pair").sort_index()
    has = (pairs["source_classes"] + " " + pairs["target_classes"]).str.get_dummies(" ")
    has = has.rename_axis(columns="label").astype(bool)
    bounds = table[list(BOUNDS)].to_dataarray("bound")
    return xr.Dataset({"error": table["risk_final"], "bounds": bounds, "has": has})


def r_squared(table, along="pair"):
    """R² of the error with each bound (bound, …) of a `pair_table`; NaN where either is constant or not finite."""
    error, bounds = (table[name] - table[name].mean(along, skipna=False) for name in ("error", "bounds"))
    squares = xr.dot(error, error, dim=along) * xr.dot(bounds, bounds, dim=along)
    determined = (squares > 0) & (table.sizes[along] > 2)  # two points always lie on a line
    return xr.dot(error, bounds, dim=along) ** 2 / squares.where(determined)


def mean_r_squared(table, along="pair"):
    """Mean R² over seeds; NaN if a seed has none."""
    return r_squared(table, along).mean("seed", skipna=False)


def leave_one_class_out(table, statistic=mean_r_squared):
    """A statistic (left_out, bound, estimator, samples) of a `pair_table`: of all pairs, then without the pairs of each
    class of images in turn."""

    def of_classes(labels):
        others = table["has"].drop_sel(label=labels).any("label")
        return statistic(table.isel(pair=~others.values))

    parts = jackknife.leave_one_out(of_classes, table["label"].values)
    return xr.concat(parts, "left_out").transpose("left_out", "bound", ...)


def first_shares(table):
    """Share (left_out, bound, estimator, samples) of random sets of 20 pairs in which a bound has the highest R².

    As in the paper, the R² of a set is the mean over repeats of the same pairs. Bounds that tie share a set; the share
    is NaN if a set has no R². None for fewer than `ENOUGH` pairs.

    Each set orders all pairs at random once and consists of the first 20. Where a class is left out, they are the first
    20 of the remaining pairs, so that the statistics (`leave_one_class_out`) differ little by chance.
    """
    if table.sizes["pair"] < ENOUGH:
        return None
    rng = generator("bound correlations", "", 0, "sets of pairs")
    ranks = rng.random((SETS, table.sizes["pair"]), dtype=np.float32)

    def shares(part):
        sets = np.argpartition(part["rank"].values, SET, axis=1)[:, :SET]
        sets, by_samples = xr.DataArray(sets, dims=("set", "member")), []
        for samples in part["samples"].values:  # one after the other, to save memory
            values = mean_r_squared(part.sel(samples=[samples]).isel(pair=sets), "member")
            first = values == values.max("bound", skipna=False)
            by_samples.append((first / first.sum("bound")).mean("set", skipna=False))
        return xr.concat(by_samples, "samples")

    return leave_one_class_out(table.assign(rank=(("set", "pair"), ranks)), shares)


def published(table, bound):
    """R² and deviation by number of samples, two Series, of a bound in the published table (a data frame)."""
    rows = table[table["bound"] == bound].set_index("samples")
    return rows["r_squared"], rows["deviation"]
