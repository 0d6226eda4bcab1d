"""Runs that a claim compares: chosen by their coordinates, one a seed, so that differences are paired by seed."""

import numpy as np
import pandas as pd

from carryover.errors import UserError
from carryover.runs import coordinates

UNTRAINED = 0.1
"""Share of its risk that the training loss of a network makes up which stopped before its training was done."""


class Runs:
    """Some runs of the dataset that a role of a claim names."""

    def __init__(self, role, data, chosen=()):
        self.role, self.data, self.chosen = role, data, chosen

    def where(self, **condition):
        """The runs at which coordinates have these values; `clusters` chooses from what there is for each number.

        Raises UserError for the first value that none of them has.
        """
        data, chosen = self.data, list(self.chosen)
        for name, value in condition.items():
            if name not in data.coords:
                raise UserError(f"the runs of the role {self.role} have no {name}, by which this claim compares them.")
            keep = _equal(data[name].values, value)
            if not keep.any():
                others = " and ".join(chosen)
                known = ", ".join(f"{known:g}" if _number(known) else str(known) for known in _distinct(data, name))
                raise UserError(
                    f"this claim needs {_words(name, value)} of the role {self.role}, "
                    f"but {f'with {others} ' if others else ''}there is only {name} {known}."
                )
            data = data.isel({data[name].dims[0]: keep})
            chosen.append(_words(name, value))
        return Runs(self.role, data, tuple(chosen))

    def options(self, name):
        """Values of a coordinate that these runs have, rising; UserError for a coordinate that they lack."""
        if name not in self.data.coords:
            raise UserError(f"the runs of the role {self.role} have no {name}, by which this claim compares them.")
        return _distinct(self.data, name)

    def only(self, name):
        """The one value that a coordinate has; UserError where it has several."""
        values = self.options(name)
        if len(values) != 1:
            raise UserError(f"this claim needs runs of one {name} of the role {self.role}, not of {len(values)}.")
        return values[0]

    def extremes(self, name):
        """Smallest and largest value of a coordinate; UserError where it has one alone."""
        values = self.options(name)
        if len(values) < 2:
            raise UserError(f"this claim compares values of {name} of the role {self.role}, but there is one alone.")
        return values[0], values[-1]

    def regimes(self):
        """(rich, lazy): the runs from the smallest and from the largest initial scale; UserError where it is one."""
        return tuple(self.where(initial_scale=scale) for scale in self.extremes("initial_scale"))

    def rescalings(self):
        """The factors on the weights that are nearest to a tenth and to ten; UserError where 1 is not between them."""
        self.extremes("rescale")
        factors = np.array(self.options("rescale"))
        low, high = (factors[abs(np.log10(factors) - decade).argmin()].item() for decade in (-1, 1))
        if not low < 1 < high:
            raise UserError(
                f"this claim needs rescale below and above 1 of the role {self.role}, not from {low:g} to {high:g}."
            )
        return low, high

    def by_seed(self, quantity, **condition):
        """A quantity at these values of the coordinates, as a Series over seeds.

        Raises UserError where there is none, and where several runs of a seed are left, naming what they differ in.
        """
        runs = self.where(**condition)
        values = runs.data[quantity]
        values = values.isel({name: 0 for name in values.dims if name != "run"})
        series = pd.Series(values.values, index=pd.Index(runs.data["seed"].values, name="seed"))
        if series.index.has_duplicates:
            several = [
                name for name in coordinates(runs.data) if name != "seed" and len(_distinct(runs.data, name)) > 1
            ]
            raise UserError(
                f"with {' and '.join(runs.chosen)} the role {self.role} has several runs a seed, "
                f"which differ in {' and '.join(several) or 'nothing'}: this claim needs one."
            )
        return series

    def risk(self, trained=False, **condition):
        """log₁₀ of the risk at the end of training, as a Series over seeds.

        `trained`: NaN for networks that were stopped short: their training loss has neither reached its tolerance nor
        fallen below a tenth of their risk, so that the risk tells about the stopping. A claim asks this of the networks
        that it says are worse.
        """
        runs = self.where(**condition)
        if trained:
            data = runs.data
            ended = data["converged"] == 1
            if "at_rest" in data:
                ended |= data["at_rest"] == 1
            done = ended | (data["loss"] <= UNTRAINED * data["risk_final"])
            runs = Runs(self.role, data.assign(risk_final=data["risk_final"].where(done)), runs.chosen)
        return np.log10(runs.by_seed("risk_final"))

    def trained(self):
        """Those that were trained step by step; UserError where none was."""
        trained = self.data.isel(run=self.data["solver"].values != "exact")
        if not trained.sizes["run"]:
            raise UserError(f"this claim needs trained networks of the role {self.role}, but all are solved.")
        return Runs(self.role, trained, self.chosen)

    def sizes(self, least=1):
        """Numbers of samples, rising; UserError where there are fewer than `least` of them."""
        sizes = self.options("samples")
        if len(sizes) < least:
            known = ", ".join(f"{n:g}" for n in sizes)
            raise UserError(
                f"this claim needs {least} numbers of samples or more of the role {self.role}, not {known}."
            )
        return sizes

    def by_samples(self, quantity, least=1):
        """A quantity by seed (rows) and samples, a DataFrame; UserError for fewer than `least` numbers of samples."""
        return pd.DataFrame({n: self.by_seed(quantity, samples=n) for n in self.sizes(least)})

    def per_doubling(self, quantity):
        """Slope of a quantity against log₂ of the samples, by least squares, as a Series over seeds that have all."""
        table = self.by_samples(quantity, 2)
        doublings = np.log2(table.columns.to_numpy())
        doublings -= doublings.mean()
        return table @ pd.Series(doublings / (doublings @ doublings), index=table.columns)


def common_sizes(*groups):
    """Numbers of samples that several groups of runs share, rising; UserError where there are none."""
    common = set.intersection(*(set(runs.sizes()) for runs in groups))
    if not common:
        compared = "; ".join(" and ".join(runs.chosen) for runs in groups)
        raise UserError(
            f"at no number of samples does the role {groups[0].role} have all that this claim compares: {compared}."
        )
    return sorted(common)


def rank_correlation(one, other):
    """Of the columns of two tables that neither lacks, by row; scipy.stats would take a second more of every job."""
    known = one.notna() & other.notna()
    return one.where(known).rank(axis=1).corrwith(other.where(known).rank(axis=1), axis=1)


def worst(table):
    """The column of a table by seed with the smallest mean; what is claimed of every column is tested there."""
    return table[table.mean().idxmin()]


def nearest(values, wanted, name, within=0.05):
    """The one of some values that is nearest to the one wanted; UserError where none is near."""
    best = min(values, key=lambda value: abs(value - wanted))
    if abs(best - wanted) > within:
        raise UserError(f"this claim needs runs of {name} near {wanted:g}; the nearest have {best:g}.")
    return best


def _equal(values, wanted):
    return np.isclose(values, wanted, rtol=1e-9, atol=0) if _number(wanted) else values == wanted


def _number(value):
    return isinstance(value, int | float | np.number)


def _distinct(data, name):
    return [value.item() for value in np.unique(data[name].values) if value == value]


def _words(name, value):
    return f"{name} {value:g}" if _number(value) else f"{name} {value}"
