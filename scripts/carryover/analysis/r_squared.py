"""How well bounds tell errors apart: R² over pairs of tasks, as in Table 1 of "Finetuning with linear teachers"."""

import numpy as np
import pandas as pd
import xarray as xr

from carryover.errors import UserError
from carryover.runs import coordinates
from carryover.streams import generator

BOUNDS = {
    "distance": "squared distance of source and target",
    "benign_overfitting": "benign overfitting",
    "covariance": "covariance of the target (m = 2)",
}
GROUP = ["cutoff", "seed", "samples"]
FEWEST = 3  # pairs; two points always lie on a line
SET = 20
"""Pairs in the paper's table."""
SETS = 5000
ENOUGH = 10 * SET
"""Pairs from which sets of 20 are drawn: of fewer, sets would be nearly the same."""


def finetuned(data):
    """The runs of a collected dataset of the measure `bounds` that started from a source task, as a DataFrame.

    Raises UserError where a number of samples has fewer than three pairs, and where a pair has not one run of each
    cutoff, seed and number of samples.
    """
    runs = data.to_dataframe()
    runs = runs[runs["protocol"] == "finetuning"]
    pairs = runs.groupby(GROUP)["pair"].nunique()
    if pairs.empty or pairs.min() < FEWEST:
        raise UserError(f"R² needs {FEWEST} pairs of tasks or more that were finetuned: raise pairs.")
    cells = runs.groupby([*GROUP, "pair"])
    if (cells.size() > 1).any():
        differ = [name for name in coordinates(data) if name not in cells.keys and (cells[name].nunique() > 1).any()]
        raise UserError(
            "R² needs one run of each pair, seed, cutoff and number of samples; there are several, which differ in "
            f"{' and '.join(differ) or 'nothing'}: give it runs of one alone."
        )
    wanted = pd.MultiIndex.from_product([runs[name].unique() for name in (*GROUP, "pair")], names=[*GROUP, "pair"])
    if len(missing := wanted.difference(cells.size().index)):
        which = ", ".join(f"{name} {value:g}" for name, value in zip(wanted.names, missing[0], strict=True))
        raise UserError(f"R² needs all pairs of each seed, cutoff and number of samples; there is no run of {which}.")
    return runs


def arranged(data):
    """The finetuned runs as a Dataset over (`GROUP`, pair).

    Its variables are `error`, `bounds`, which are along `bound` too, and `has` (pair, label), which classes of images a
    pair of tasks is of. Raises as `finetuned`.
    """
    runs = finetuned(data)
    table = runs.set_index([*GROUP, "pair"])[["risk_final", *BOUNDS]].to_xarray()
    classes = runs.drop_duplicates("pair").set_index("pair").sort_index()
    classes = (classes["source_classes"] + " " + classes["target_classes"]).str.split()
    labels = sorted(set().union(*classes), key=int)
    has = np.array([[label in four for label in labels] for four in classes])
    bounds = table[list(BOUNDS)].to_dataarray("bound")
    coords = {"label": labels, "pair": classes.index.to_numpy()}
    return xr.Dataset(
        {"error": table["risk_final"], "bounds": bounds, "has": xr.DataArray(has, coords, ["pair", "label"])}
    )


def squared_correlation(first, second):
    """Squared Pearson correlation (…) over the last axis, NaN where one of the two is the same all along, or not
    finite."""
    with np.errstate(invalid="ignore", divide="ignore"):
        # The mean of equal numbers is rounded, and they would vary about it.
        same = (np.ptp(first, axis=-1) == 0) | (np.ptp(second, axis=-1) == 0)
        first, second = (values - values.mean(-1, keepdims=True) for values in (first, second))
        squared = (first * second).sum(-1) ** 2 / ((first**2).sum(-1) * (second**2).sum(-1))
        return np.where(same, np.nan, squared)


def r_squared(data):
    """Squared Pearson correlation over pairs of the error with each bound, a DataFrame.

    Args: data, a collected dataset of the measure `bounds`. Returns one row per cutoff, seed and number of samples (the
    index) and a column per bound of `BOUNDS`, NaN where the error or a bound is the same for all pairs. Raises as
    `finetuned`.
    """
    found = _correlations(arranged(data)).to_series().unstack("bound")
    return found[list(BOUNDS)].reorder_levels(GROUP).sort_index()


def without_each(table):
    """R² (left_out, bound, cutoff, samples), mean over seeds, of a table as `arranged` gives it.

    First of all pairs, then without those of each class of images; NaN where fewer than three pairs are left, and where
    a seed has none.
    """
    parts = [_correlations(table.isel(pair=kept)).mean("seed", skipna=False) for kept in _parts(table)]
    return xr.concat(parts, "left_out").transpose("left_out", "bound", ...)


def first_shares(table):
    """Share (left_out, bound, cutoff, samples) of random sets of 20 pairs in which a bound has the highest R².

    As in the paper, the R² of a set is the mean over repeats of the same pairs. `left_out` as in `without_each`. Bounds
    that tie share a set; NaN where a set has no R². None where there are fewer than `ENOUGH` pairs.
    """
    if table.sizes["pair"] < ENOUGH:
        return None
    order = "cutoff", "samples", "seed", "pair"
    errors, bounds = table["error"].transpose(*order).values, table["bounds"].transpose("bound", *order).values
    shares = []
    for sets in _sets(list(_parts(table))):
        share = np.empty((len(BOUNDS), *errors.shape[:2]))
        for place in np.ndindex(errors.shape[:2]):
            error = errors[place][:, sets]
            found = np.stack([squared_correlation(error, one[:, sets]).mean(0) for one in bounds[:, *place]])
            first = found == found.max(0)
            with np.errstate(invalid="ignore"):
                share[:, *place] = (first / first.sum(0)).mean(-1)
        coords = {name: table[name] for name in ("bound", "cutoff", "samples")}
        shares.append(xr.DataArray(share, coords, list(coords)))
    return xr.concat(shares, "left_out")


def published(table, bound):
    """R² and deviation by number of samples, two Series, of a bound in the published table (a DataFrame)."""
    rows = table[table["bound"] == bound].set_index("samples")
    return rows["r_squared"], rows["deviation"]


def _parts(table):
    """Numbers of all pairs, then of those without each class."""
    yield np.arange(table.sizes["pair"])
    for label in table["label"].values:
        yield np.flatnonzero(~table["has"].sel(label=label).values)


def _correlations(table):
    """(bound, cutoff, seed, samples)."""
    errors, bounds = xr.broadcast(table["error"], table["bounds"])
    if table.sizes["pair"] < FEWEST:
        return bounds.sum("pair") * np.nan
    return xr.apply_ufunc(squared_correlation, errors, bounds, input_core_dims=[["pair"], ["pair"]])


def _sets(parts):
    """For each of some parts of all pairs, the first of which is all, `SETS` sets of `SET` different pairs.

    A set of a part is the first of its pairs in an order of all of them, and the next part has the same order: what
    differs between parts is less the chance of the draw.
    """
    rng = generator("bound correlations", "", 0, "sets of pairs")
    places = rng.random((SETS, len(parts[0])), dtype=np.float32)
    for part in parts:
        yield part[np.argpartition(places[:, part], SET, axis=1)[:, :SET]]
