"""Runs that a check compares: selected by their coordinates, one per seed, so that differences are paired by seed; and
runs paired with those that share all coordinates but some."""

from functools import reduce

import numpy as np
import pandas as pd

from carryover.errors import UserError
from carryover.runs import coordinates, select_runs

UNTRAINED = 0.1  # training loss, as a share of the risk, above which a network that stopped was stopped too early


class Runs:
    """Runs of the dataset of a role."""

    def __init__(self, role, data):
        self.role, self.data = role, data

    def where(self, **condition):
        """The runs at which coordinates have these values, and what other dimensions have at one; UserError if none."""
        places = {name: condition.pop(name) for name in list(condition) if name in self.data.dims}
        try:
            return Runs(self.role, select_runs(self.data.sel(places), **condition))
        except UserError as error:
            raise UserError(f"of the data of the role {self.role}: {error}") from None

    def options(self, name, least=1):
        """The distinct values of a coordinate but NaN, in rising order; UserError for fewer than `least`."""
        values = _distinct(self.data, name)
        if len(values) < least:
            known = ", ".join(map(str, values))
            raise UserError(f"this claim needs {least} values of {name} or more of the role {self.role}, not {known}.")
        return values

    def extremes(self, name):
        """Smallest and largest value of a coordinate; UserError if it has only one."""
        values = self.options(name, 2)
        return values[0], values[-1]

    def regimes(self):
        """(rich, lazy): the runs from the smallest and from the largest initial scale."""
        return tuple(self.where(initial_scale=scale) for scale in self.extremes("initial_scale"))

    def rescalings(self):
        """The factors on the weights nearest to 1/10 and to 10; UserError unless 1 lies between them."""
        factors = np.array(self.options("rescale", 2))
        low, high = (factors[abs(np.log10(factors) - decade).argmin()].item() for decade in (-1, 1))
        if not low < 1 < high:
            raise UserError(
                f"this claim needs rescale below and above 1 of the role {self.role}, not from {low:g} to {high:g}."
            )
        return low, high

    def table(self, quantity, *names):
        """A variable of the runs as a data frame: rows are seeds, columns the values of the coordinates `names`.

        Entries are NaN where there is no run. Without `names` it is a Series over seeds. Raises UserError if several
        runs have the same seed and values, naming the coordinates in which they differ.
        """
        values = self.data[quantity]  # of dimensions other than `run`, the first place is taken
        values = values.isel({name: 0 for name in values.dims if name != "run"}).values
        columns = {name: self.data[name].values for name in ("seed", *names)}
        values_by_run = pd.DataFrame(columns | {"value": values}).set_index(list(columns))["value"]
        if values_by_run.index.has_duplicates:
            others = [name for name in coordinates(self.data) if name not in columns]
            differ = " and ".join(name for name in others if len(_distinct(self.data, name)) > 1)
            raise UserError(f"this claim needs one run a seed of the role {self.role}; several differ in {differ}.")
        return values_by_run.unstack(list(names)).sort_index(axis=1) if names else values_by_run

    def ratio(self, over, under, *names):
        """The ratio of two quantities of the same runs, as `table`."""
        return self.table(over, *names) / self.table(under, *names)

    def over_teacher(self, norm, *names):
        """log₁₀ of the ratio of a norm of networks to that of their teachers, as `table`."""
        return np.log10(self.ratio(norm, f"{norm}_teacher", *names))

    def risks(self, *names):
        """log₁₀ of the risk at the end of training, by seed (rows) and the values of coordinates, as `table`."""
        return np.log10(self.table("risk_final", *names))

    def risks_by_completion(self, *names):
        """(risks, finished): `risks`, and the same table with NaN for networks whose training stopped too early.

        These have neither converged nor come to rest, and their loss is above `UNTRAINED` times their risk, so that the
        risk depends on when training stopped. A check uses the second table for the networks that it expects to have
        the larger risk.
        """
        risks = self.risks(*names)
        finished = self.table("loss", *names) <= UNTRAINED * self.table("risk_final", *names)
        for reached in ("converged", "at_rest"):
            if reached in self.data:
                finished |= self.table(reached, *names) == 1
        return risks, risks.where(finished)

    def per_doubling(self, quantity):
        """Least-squares slope of a quantity against log₂ of the samples, a Series over seeds that have all."""
        table = self.table(quantity, "samples").dropna()
        return pd.Series(np.polyfit(np.log2(table.columns), table.T, 1)[0], table.index)


def match_runs(runs, others, ignored=(), needed=""):
    """A data frame of runs, each joined with the run of `others` that has the same coordinates.

    Both are datasets of variables (run,). A row has the coordinates and variables of a run, and `<variable>_other` of
    the other, NaN where there is none. Coordinates in `ignored` may differ, and those for which one side has only NaN
    or empty text. `needed` says what the other run is; if it is given, each run must match one. Raises UserError if
    one does not, or if a run matches several others.
    """
    left, right = (dataset.to_dataframe().reset_index(drop=True) for dataset in (runs, others))
    shared = [name for name in sorted(coordinates(others)) if name in left and name not in ignored
              and all((side[name].notna() & side[name].ne("")).any() for side in (left, right))]  # fmt: skip
    if right.duplicated(shared).any():
        differ = [name for name in coordinates(others) if name not in shared and right[name].nunique() > 1]
        raise UserError(f"several runs have the same {', '.join(shared)}; they differ in {', '.join(differ)}.")
    variables = list(others.data_vars)
    right = right[[*shared, *variables]].rename(columns={name: f"{name}_other" for name in variables})
    joined = left.merge(right, on=shared, how="left", indicator="side")
    if needed and (unmatched := joined["side"] == "left_only").any():
        raise UserError(f"no {needed} at {joined.loc[unmatched, shared].iloc[0].to_dict()}.")
    return joined.drop(columns="side")


def only(runs, name):
    """The one value of a coordinate that runs have; UserError for several, which must not be averaged."""
    values = _distinct(runs, name)
    if len(values) != 1:
        raise UserError(f"runs of one {name} are needed here, not of {', '.join(map(str, values))}.")
    return values[0]


def common(*tables):
    """Tables at the columns that all of them have; UserError if there is none."""
    columns = reduce(pd.Index.intersection, (table.columns for table in tables))
    if columns.empty:
        raise UserError(f"runs that this claim compares have no {' and '.join(columns.names)} in common.")
    return [table[columns] for table in tables]


def mean_over_samples(table, sizes):
    """Mean over numbers of samples, by seed and the other levels of a table's columns; NaN where one of them lacks."""
    return sum(table.xs(n, axis=1, level="samples") for n in sizes) / len(sizes)


def worst(table, claimed="above"):
    """The column of a table by seed at which a claim about all columns is tested.

    That is the one whose mean is the smallest where values are claimed to lie above a bound, the largest where below,
    and the farthest from 0 where within bounds on both sides of it.
    """
    mean = table.mean()
    return table[{"above": mean, "below": -mean, "within": -mean.abs()}[claimed].idxmin()]


def nearest(table, name, wanted, tolerance=0.05):
    """The value of a column that is nearest to `wanted`; UserError if none is within `tolerance` of it."""
    best = min(table[name].unique(), key=lambda value: abs(value - wanted))
    if abs(best - wanted) > tolerance:
        raise UserError(f"this claim needs runs of {name} near {wanted:g}; the nearest have {best:g}.")
    return best


def _distinct(data, name):
    return [value.item() for value in np.unique(data[name].values) if value == value]


def evenly_spaced(values, most=None):
    """All values, or `most` of them, evenly spaced from the first to the last."""
    values = list(values)
    places = np.unique(np.linspace(0, len(values) - 1, min(most or len(values), len(values))).round().astype(int))
    return [values[place] for place in places]
