"""Theory curves of "A theoretical analysis of fine-tuning with linear teachers": its bounds, and risks on random
inputs."""

from itertools import product
from typing import Annotated

import numpy as np
from pydantic import Field
from scipy.optimize import brentq

from carryover.config import plugins
from carryover.config.parameters import Model, Several, parameter
from carryover.errors import UserError
from carryover.labels import make_dataset
from carryover.streams import generator
from carryover.theory.linear_teachers import (
    benign_overfitting_bound,
    covariance_terms,
    deep_gaussian_bound,
    deep_linear_limit,
    estimation_error_bound,
    gaussian_bound,
    linear_limit,
    population_risk,
)

_CONFIDENCE = 3.0  # δ: the bound by the covariance is to hold with probability 1 − exp(−δ)
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
    "eigenvalue": "λ_m of that bound",
    "g": "g of that bound",
    "at_fall": "bound at c = 1 with the m after which eigenvalues first fall",
    "needed": "least c at which the bound holds for every m",
    "estimation_needed": "least c at which the bound on the covariance's error holds",
    "n": "samples",
    "dimension": "input dimensions",
}
_SOURCE_NORM = np.array([0.25, 1.0, 4.0])
_ANGLE = np.array([0.0625, 0.125, 0.25, 0.5])  # in units of π
_DEPTH = np.array([1, 2, 7, 10_000, np.inf])
_EPSILON = np.array([0.0, 0.1, 0.2, 0.4])  # at 0 the bounds are means


class CovarianceBound(Model):
    instances: Several = parameter(2000, "random problems; the constants are fitted on half of them")


@plugins.curve()
def covariance_bound(p: CovarianceBound):
    """Theorem 4.2 on random instances: what its open constant is, and how its two terms fall with the samples.

    Risk and bound over `instance`, the constants that fit the first half, and the bound's terms over `samples` for Δ of
    norm 1 with equal components along all eigenvectors of the spectrum of the paper's figure 1.

    An instance is a spectrum, a difference Δ = θ_T − θ_S of norm 1 and n < d Gaussian inputs; the largest eigenvalue is
    1. `risk` is equation 2; the bound for a constant c is c³ `top_unit` + c `bottom_unit`, at the m that is best for
    c = 1. `needed` is the least c at which the bound holds for every m, `estimation_needed` that at which
    |XᵀX/n − Σ| ≤ g, never below it. `c` and `c_estimation` are their largest values in the first half (half 0).
    """
    instances = [_instance(i) for i in range(p.instances)]
    half = (np.arange(p.instances) >= p.instances // 2).astype(int)
    columns = {name: np.array([one[name] for one in instances]) for name in _MEANING}
    variables: dict[str, tuple] = {name: ("instance", values, _MEANING[name]) for name, values in columns.items()}
    for suffix, name in (("", "needed"), ("_estimation", "estimation_needed")):
        largest = columns[name][half == 0].max()
        variables[f"c{suffix}"] = ((), largest, f"largest {_MEANING[name]}, first half")
    top, bottom = covariance_terms(np.full(1000, 1000**-0.5), _FIGURE_1, _SAMPLES, 50, _CONFIDENCE)
    variables["top_term"] = ("samples", top, _MEANING["top_unit"])
    variables["bottom_term"] = ("samples", bottom, _MEANING["bottom_unit"])
    variables["rank"] = ((), _FIGURE_1.sum() / _FIGURE_1.max(), "Σλ/λ₁ of the spectrum of the terms over samples")
    variables["half"] = ("instance", half, "0 where the constants are fitted, 1 where they are tested")
    curve = make_dataset(
        variables, {"instance": (np.arange(p.instances), "instance"), "samples": (_SAMPLES, "samples")}
    )
    return curve.set_coords(["half", "spectrum", "alignment"])


def _instance(index):
    """{name in _MEANING: value} of one random problem."""
    rng = generator("covariance_bound", {"instance": index}, 0, "instance")
    d = int(rng.integers(30, 61))
    n, cut = int(rng.integers(1, d)), int(rng.integers(1, d // 2 + 1))
    # Gaussian inputs have no preferred axes: a diagonal covariance stands for all with its spectrum.
    spectra = {
        "flat": lambda: np.ones(d),
        "power law": lambda: np.arange(1.0, d + 1) ** -rng.uniform(0.5, 2),
        "two levels": lambda: np.where(np.arange(d) < cut, 1.0, 10 ** rng.uniform(-2, -0.3)),
    }
    equal = {"top": slice(cut, None), "bottom": slice(cut), "random": slice(0)}  # where the tasks do not differ
    spectrum, alignment = (list(kinds)[rng.integers(len(kinds))] for kinds in (spectra, equal))
    cov, difference = spectra[spectrum](), rng.standard_normal(d)
    difference[equal[alignment]] = 0
    difference /= np.linalg.norm(difference)
    X = rng.standard_normal((n, d)) * np.sqrt(cov)
    risk = population_risk(linear_limit(np.zeros(d), difference, X), difference, cov)
    top, bottom = covariance_terms(difference, cov, n, np.arange(1, d + 1), _CONFIDENCE)
    best, g = np.argmin(top + bottom), estimation_error_bound(cov, n, _CONFIDENCE)
    error = np.abs(np.linalg.eigvalsh(X.T @ X / n - np.diag(cov))).max() / g
    fall = np.flatnonzero(cov == cov[0])[-1]  # index of the last of the largest eigenvalues
    # Where g is the covariance's error itself, the bound holds for every m.
    needed = brentq(lambda c: (c**3 * top + c * bottom).min() - risk, 0, error, xtol=1e-18)
    return {
        "spectrum": spectrum, "alignment": alignment, "n": n, "dimension": d, "risk": risk,
        "benign_overfitting": benign_overfitting_bound(difference, cov, n),
        "top_unit": top[best], "bottom_unit": bottom[best], "m": best + 1, "eigenvalue": cov[best], "g": g,
        "at_fall": top[fall] + bottom[fall],
        "needed": needed, "estimation_needed": error,
    }  # fmt: skip


class GaussianBounds(Model):
    dimension: tuple[Several, ...] = parameter((40, 160), "input dimensions d")
    gamma: tuple[Annotated[float, Field(gt=0, le=1)], ...] = parameter(
        (0.1, 0.25, 0.5, 0.75), "samples per input dimension n/d")  # fmt: skip
    draws: Several = parameter(200, "random inputs of each dimension and number of samples")


@plugins.curve()
def gaussian_bounds(p: GaussianBounds):
    """Theorem 5.4: risks of finetuning on Gaussian inputs, and the two bounds, which do not depend on the inputs.

    `risk` is that of each draw of the inputs, by depth; the bounds `one_layer` (eq 10) and `deep`, of infinitely many
    layers (eq 9), are given for several ε. The law of the inputs, N(0, I), is invariant under rotations, so that the
    coefficients of source and target may lie in the plane of the first two inputs.

    Raises UserError where gamma times dimension is no whole number of samples.
    """
    # Sources (norms, 1, 1, d), and targets (angles, 1, d) of norm 1: risks and bounds scale with its square.
    first, second = np.eye(2, max(p.dimension))
    turned = np.multiply.outer(np.cos(np.pi * _ANGLE), first) + np.multiply.outer(np.sin(np.pi * _ANGLE), second)
    sources, targets = _SOURCE_NORM[:, None, None, None] * first, turned[:, None]
    found = []
    for d, gamma in product(p.dimension, p.gamma):
        n = round(gamma * d)
        if abs(n - gamma * d) > 1e-9:
            raise UserError(f"gamma {gamma:g} of {d} dimensions is no whole number of samples.")
        rng = generator("gaussian_bounds", {"dimension": d, "samples": n}, 0, "inputs")
        X, source, target = rng.standard_normal((p.draws, n, d)), sources[..., :d], targets[..., :d]
        limits = deep_linear_limit(source, target, X, _DEPTH[:, None, None, None])  # (depth, norm, angle, draw, d)
        found.append(population_risk(limits, target, np.ones(d)))
    risks = np.reshape(found, (len(p.dimension), len(p.gamma), *found[0].shape))
    d = p.dimension[0]  # the bounds depend on n/d alone
    arguments = sources[..., :d], targets[..., :d], d * np.array(p.gamma)[:, None, None, None], _EPSILON
    one_layer, deep = gaussian_bound(*arguments), deep_gaussian_bound(*arguments)
    tasks = ("gamma", "source_norm", "angle")
    return make_dataset(
        {
            "risk": (("dimension", "gamma", "depth", *tasks[1:], "draw"), risks, "population risk of finetuning"),
            "one_layer": ((*tasks, "epsilon"), one_layer, "bound on the risk of one layer (eq 10)"),
            "deep": ((*tasks, "epsilon"), deep, "bound on the risk of endlessly many layers (eq 9)"),
        },
        {
            "dimension": (np.array(p.dimension), "input dimensions"),
            "gamma": (np.array(p.gamma), "samples per input dimension, n/d"),
            "source_norm": (_SOURCE_NORM, "norm of the source's coefficients; the target's is 1"),
            "angle": (_ANGLE, "angle between source and target task", "pi"),
            "depth": (_DEPTH, "layers, with the readout"),
            "epsilon": (_EPSILON, "ε of the bounds"),
            "draw": (np.arange(p.draws), "draw of the inputs"),
        },
    )
