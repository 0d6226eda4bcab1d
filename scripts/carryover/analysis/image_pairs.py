"""R² of errors on pairs of image tasks with the bounds on them."""

import xarray as xr

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
    """Squared correlation (bound, …) of the error and each bound of a `pair_table`; NaN if one is constant or NaN."""
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
