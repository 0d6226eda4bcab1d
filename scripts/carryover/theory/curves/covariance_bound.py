"""Theory curve: the risk of finetuning beside the bound by the covariance of the data, on random instances.

"A theoretical analysis of fine-tuning with linear teachers", theorem 4.2: what its open constant is, and how its two
terms fall with the number of samples.
"""

from typing import Any

import numpy as np
import xarray as xr
from scipy.optimize import brentq

from carryover.labels import described
from carryover.streams import generator
from carryover.theory.linear_teachers import (
    benign_overfitting_bound,
    covariance_terms,
    estimation_error_bound,
    linear_limit,
    population_risk,
)

_SPECTRA = ("flat", "power law", "two levels")
_ALIGNMENTS = ("top", "bottom", "random")
_DIMENSIONS = 30, 60  # of an instance, at least and at most
_CONFIDENCE = 3.0  # δ: the bound is to hold with probability 1 − exp(−δ)
_SAMPLES = np.array([10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000])
_FIGURE_1 = np.repeat([1.5, 0.3], [50, 950])  # the spectrum for which the terms are drawn against n
_MEANING = {
    "spectrum": "spectrum of the covariance",
    "alignment": "where the tasks differ",
    "risk": "population risk of finetuning",
    "top_unit": "term of the top eigenvectors at c = 1",
    "bottom_unit": "term of the bottom eigenvectors at c = 1",
    "benign_overfitting": "bound of benign overfitting",
    "m": "number of top eigenvectors of the least bound at c = 1",
    "needed": "least c at which the bound holds for every m",
    "estimation_needed": "least c at which the bound on the covariance's error holds",
    "n": "samples",
    "dimension": "input dimensions",
}


def compute(p: Any) -> xr.Dataset:
    """Risk and bound over `instance`, the constants that fit the first half, and the bound's terms over `samples`
    for Δ of norm 1 with equal components along all eigenvectors of the spectrum of the paper's figure 1.

    An instance is a spectrum, a difference Δ = θ_T − θ_S of norm 1 and n < d Gaussian inputs; the largest eigenvalue is
    1. `risk` is equation 2; the bound for a constant c is c³ `top_unit` + c `bottom_unit`, at the m that is best for
    c = 1. `needed` is the least c at which the bound holds for every m, `estimation_needed` that at which
    |XᵀX/n − Σ| ≤ g, never below it. `c` and `c_estimation` are their largest values in the first half (half 0),
    `violations` and `violations_estimation` the instances of the other half that need more.
    """
    rows = [_instance(i) for i in range(p.instances)]
    columns = {name: np.array(values) for name, values in zip(_MEANING, zip(*rows, strict=True), strict=True)}
    variables: dict[str, tuple] = {name: ("instance", columns[name], meaning) for name, meaning in _MEANING.items()}
    half = (np.arange(p.instances) >= p.instances // 2).astype(int)
    for suffix, name in (("", "needed"), ("_estimation", "estimation_needed")):
        first, second = (columns[name][half == which] for which in (0, 1))
        variables[f"c{suffix}"] = ((), first.max(), f"largest {_MEANING[name]}, first half")
        more = int((second > first.max()).sum())
        variables[f"violations{suffix}"] = ((), more, "instances of the second half that need more")
    top, bottom = covariance_terms(np.full(1000, 1000**-0.5), _FIGURE_1, _SAMPLES, 50, _CONFIDENCE)
    variables["top_term"] = ("samples", top, "term of the top eigenvectors at c = 1")
    variables["bottom_term"] = ("samples", bottom, "term of the bottom eigenvectors at c = 1")
    variables["half"] = ("instance", half, "0 where the constants are fitted, 1 where they are tested")
    curve = described(variables, {"instance": (np.arange(p.instances), "instance"), "samples": (_SAMPLES, "samples")})
    return curve.set_coords(["half", "spectrum", "alignment"])


def _instance(index):
    """Values in the order of _MEANING of one random problem."""
    rng = generator("covariance_bound", {"instance": index}, 0, "instance")
    d = int(rng.integers(_DIMENSIONS[0], _DIMENSIONS[1] + 1))
    n, cut = int(rng.integers(1, d)), int(rng.integers(1, d // 2 + 1))
    spectrum, alignment = _SPECTRA[rng.integers(len(_SPECTRA))], _ALIGNMENTS[rng.integers(len(_ALIGNMENTS))]
    # Gaussian inputs have no preferred axes: a diagonal covariance stands for all with this spectrum.
    cov = {
        "flat": lambda: np.ones(d),
        "power law": lambda: np.arange(1.0, d + 1) ** -rng.uniform(0.5, 2),
        "two levels": lambda: np.where(np.arange(d) < cut, 1.0, 10 ** rng.uniform(-2, -0.3)),
    }[spectrum]()
    difference = rng.standard_normal(d)
    difference[{"top": slice(cut, None), "bottom": slice(cut), "random": slice(0)}[alignment]] = 0
    difference /= np.linalg.norm(difference)
    X = rng.standard_normal((n, d)) * np.sqrt(cov)
    source = np.zeros(d)
    risk = population_risk(linear_limit(source, difference, X), difference, cov)
    benign = benign_overfitting_bound(difference, cov, n)
    top, bottom = covariance_terms(difference, cov, n, np.arange(1, d + 1), _CONFIDENCE)
    best = np.argmin(top + bottom)
    error = np.linalg.norm(X.T @ X / n - np.diag(cov), 2) / estimation_error_bound(cov, n, _CONFIDENCE)
    # Where g is the covariance's error itself, the bound holds for every m.
    needed = brentq(lambda c: (c**3 * top + c * bottom).min() - risk, 0, error, xtol=1e-18)
    return spectrum, alignment, risk, top[best], bottom[best], benign, best + 1, needed, error, n, d
