"""Which bound predicts best how well finetuning does on pairs of tasks ("Finetuning with linear teachers", Table 1): R²
over pairs of the error with each bound."""

from functools import partial

import xarray as xr
from pydantic import NonNegativeFloat

from carryover.claims.support.checks import Check, checks
from carryover.config import plugins
from carryover.config.parameters import Model, parameter
from carryover.statistics import jackknife

BOUNDS = {
    "distance": "squared distance",
    "benign_overfitting": "benign overfitting",
    "covariance": "eq 3, m = 2",
}


def in_words(estimator):
    """How an estimator of the family image_pairs found the coefficients of a task."""
    kind, _, number = estimator.partition("_")
    words = {"cutoff": f"without directions below {number} of the largest", "ridge": f"ridge of {number} λ₁",
             "descent": f"{number} steps of 1/λ₁"}  # fmt: skip
    return words.get(kind, "least squares")


class BoundCorrelations(Model):
    images: str = parameter("MNIST", "whose classes the pairs are of, in words")
    constant: NonNegativeFloat = parameter(
        1.0, "c of eq 3, which the paper leaves open; 0 for the limit of small ones")  # fmt: skip


@plugins.check(data=["bounds"])
def bound_correlations(data, p: BoundCorrelations):
    """Role: `bounds`, the measure of an experiment of the family image_pairs.

    Statistics are R² over pairs of tasks and differences of R²: means over numbers of samples and repeats, for each
    estimator. Intervals leave out one class of images at a time, since the paper's repeats use the same pairs and do
    not show how other pairs would differ.
    """
    table = pair_table(data["bounds"], p.constant)
    r_squared, results = leave_one_class_out(table), {}
    for estimator in table["estimator"].values:
        of_estimator = r_squared.sel(estimator=estimator).mean("samples", skipna=False)
        distance, benign, covariance = (of_estimator.sel(bound=bound) for bound in BOUNDS)
        values = {
            f"strong_{estimator}": Check(covariance.values, partial(jackknife.estimate, scale=jackknife.R_SQUARED)),
            f"above_benign_{estimator}": (covariance - benign).values,
            f"above_distance_{estimator}": (covariance - distance).values,
        }
        learned = in_words(estimator)
        results |= checks(values, jackknife.estimate, pairs=table.sizes["pair"], images=p.images, learned=learned)
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


def look_up_published(table, bound):
    """R² and deviation by number of samples, two Series, of a bound in the published table (a data frame)."""
    rows = table[table["bound"] == bound].set_index("samples")
    return rows["r_squared"], rows["deviation"]
