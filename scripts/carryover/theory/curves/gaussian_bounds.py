"""Theory curve: risks of finetuning on Gaussian inputs beside the two bounds that do not depend on the inputs.

"A theoretical analysis of fine-tuning with linear teachers", theorem 5.4: equation 10 for one layer, equation 9 for
endlessly many, each at a fixed ε.
"""

from typing import Any

import numpy as np
import xarray as xr

from carryover.errors import UserError
from carryover.labels import described
from carryover.streams import generator
from carryover.theory.linear_teachers import deep_gaussian_bound, deep_linear_limit, gaussian_bound, population_risk

_TASKS = ("gamma", "source_norm", "angle")
_SOURCE_NORM = np.array([0.25, 1.0, 4.0])
_ANGLE = np.array([0.0625, 0.125, 0.25, 0.5])  # in units of π
_DEPTH = np.array([1, 2, 7, np.inf])
_EPSILON = np.array([0.0, 0.1, 0.2, 0.4])  # at 0 the bounds are means


def compute(p: Any) -> xr.Dataset:
    """`risk` of each draw of inputs by the depth, and the bounds `one_layer` (eq 10) and `deep` (eq 9) by ε.

    Inputs are N(0, I) and prefer no direction, so that the tasks may lie in the plane of the first two.

    Raises UserError where gamma and dimension make no whole number of samples.
    """
    risks = np.stack([[_risks(d, gamma, p.draws) for gamma in p.gamma] for d in p.dimension])
    d = p.dimension[0]
    source, target = (task[..., None, :] for task in _tasks(d))
    samples = d * np.array(p.gamma)[:, None, None, None]
    bounds = [bound(source, target, samples, _EPSILON) for bound in (gaussian_bound, deep_gaussian_bound)]
    return described(
        {
            "risk": (("dimension", "gamma", "depth", *_TASKS[1:], "draw"), risks, "population risk of finetuning"),
            "one_layer": ((*_TASKS, "epsilon"), bounds[0], "bound on the risk of one layer (eq 10)"),
            "deep": ((*_TASKS, "epsilon"), bounds[1], "bound on the risk of endlessly many layers (eq 9)"),
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


def _tasks(dimension):
    """Source (norms, 1, d) and target (angles, d), whose norm is 1: risks and bounds grow with its square."""
    source, target = np.zeros((len(_SOURCE_NORM), 1, dimension)), np.zeros((len(_ANGLE), dimension))
    source[..., 0] = _SOURCE_NORM[:, None]
    target[:, 0], target[:, 1] = np.cos(np.pi * _ANGLE), np.sin(np.pi * _ANGLE)
    return source, target


def _risks(dimension, gamma, draws):
    """(depths, norms, angles, draws) of so many dimensions and samples."""
    samples = round(gamma * dimension)
    if abs(samples - gamma * dimension) > 1e-9:
        raise UserError(f"gamma {gamma:g} of {dimension} dimensions is no whole number of samples.")
    rng = generator("gaussian_bounds", {"dimension": dimension, "samples": samples}, 0, "inputs")
    X = rng.standard_normal((draws, samples, dimension))
    source, target = (task[..., None, :] for task in _tasks(dimension))
    limits = deep_linear_limit(source, target, X, _DEPTH[:, None, None, None])
    return population_risk(limits, target, np.ones(dimension))
