"""Theorem 4.2 of "Finetuning with linear teachers" on random instances, and how its terms fall with samples."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from carryover.analysis import intervals
from carryover.config.parameters import parameter

ROLES = ("curve",)


@dataclass(frozen=True, kw_only=True)
class Parameters:
    violations: float = parameter(0.05, "share of instances that may lie above the bound: e^-confidence", above=0)
    near: float = parameter(0.05, "distance from a slope that counts as agreement", above=0)


@intervals.claims("theorem 4.2", "largest distance of slopes, with the sign changed", intervals.exact)
def check(data, p):
    """Role: `curve` of curves.covariance_bound. Those of the bounds are means over the tested instances."""
    curve = data["curve"]
    tested = curve.isel(instance=curve["half"].values == 1)
    above = {name: tested[name].values > float(curve[constant]) for name, constant in
             (("needed", "c"), ("estimation_needed", "c_estimation"))}  # fmt: skip
    many = curve.isel(samples=slice(-4, None))
    off = {name: np.diff(np.log(many[name].values)) / np.diff(np.log(many["samples"].values.astype(float))) - expected
           for name, expected in (("top_term", -1.5), ("bottom_term", -0.5))}  # fmt: skip
    drawn = None, "allowed less actual share of instances above it", partial(intervals.student, over="instances")
    return [
        ("bound", "The risk of finetuning stays below the bound of eq 3, its constant fitted to other random instances",
         p.violations - above["needed"], 0.0, *drawn),
        ("estimation", "The estimated covariance is within g of the true one, its constant fitted to other instances",
         p.violations - above["estimation_needed"], 0.0, *drawn),
        ("top", "For many samples the term of the top eigenvectors falls like n^−1.5",
         -abs(off["top_term"]).max(), -p.near),
        ("bottom", "For many samples the term of the bottom eigenvectors falls like n^−0.5",
         -abs(off["bottom_term"]).max(), -p.near),
    ]  # fmt: skip
