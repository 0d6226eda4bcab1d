"""Theorem 4.2 of "Finetuning with linear teachers" on random instances, and how its terms fall with samples."""

from dataclasses import dataclass

import numpy as np

from carryover.claims import _interval
from carryover.parameters import parameter


@dataclass(frozen=True, kw_only=True)
class Parameters:
    violations: float = parameter(0.05, "share of instances that may lie above the bound: e^-confidence", above=0)
    near: float = parameter(0.05, "distance from a slope that counts as agreement", above=0)


def check(data, p):
    """Role: `curve` of curves.covariance_bound. Those of the bounds are means over the tested instances."""
    curve = data["curve"]
    tested = curve.isel(instance=curve["half"].values == 1)
    above = {name: tested[name].values > float(curve[constant]) for name, constant in
             (("needed", "c"), ("estimation_needed", "c_estimation"))}  # fmt: skip
    many = curve.isel(samples=slice(-4, None))
    slopes = {name: np.diff(np.log(many[name].values)) / np.diff(np.log(many["samples"].values.astype(float)))
              for name in ("top_term", "bottom_term")}  # fmt: skip
    return _interval.table(
        [
            ("bound", f"With the constant fitted elsewhere at most a share of {p.violations:g} lies above the bound",
             p.violations - above["needed"], 0.0),
            ("estimation", f"So it is for |Σ̃ − Σ| ≤ g, at most a share of {p.violations:g}",
             p.violations - above["estimation_needed"], 0.0),
            ("top", "The top term falls like n^-1.5 for many samples", p.near - abs(slopes["top_term"] + 1.5), 0.0),
            ("bottom", "The bottom term falls like n^-0.5 for many samples",
             p.near - abs(slopes["bottom_term"] + 0.5), 0.0),
        ]
    )  # fmt: skip
