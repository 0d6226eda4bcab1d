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


def compute(p: Any) -> xr.Dataset:
    """`risk` of each draw of inputs by the depth, and the bounds `one_layer` (eq 10) and `deep` (eq 9) by ε.

    Inputs are N(0, I) and prefer no direction, so that the tasks may lie in the plane of the first two.

    Raises UserError where gamma and dimension make no whole number of samples.
    """
    depths = np.array([1, *p.depth, np.inf])
    risks = np.stack([[_risks(p, d, gamma, depths) for gamma in p.gamma] for d in p.dimension])
    d, epsilon = p.dimension[0], np.array(p.epsilon)
    source, target = (task[..., None, :] for task in _tasks(p, d))
    samples = d * np.array(p.gamma)[:, None, None, None]
    bounds = [bound(source, target, samples, epsilon) for bound in (gaussian_bound, deep_gaussian_bound)]
    return described(
        {
            "risk": (("dimension", "gamma", "depth", *_TASKS[1:], "draw"), risks, "population risk of finetuning"),
            "one_layer": ((*_TASKS, "epsilon"), bounds[0], "bound on the risk of one layer (eq 10)"),
            "deep": ((*_TASKS, "epsilon"), bounds[1], "bound on the risk of endlessly many layers (eq 9)"),
        },
        {
            "dimension": (np.array(p.dimension), "input dimensions"),
            "gamma": (np.array(p.gamma), "samples per input dimension, n/d"),
            "source_norm": (np.array(p.source_norm), "norm of the source's coefficients; the target's is 1"),
            "angle": (np.array(p.angle), "angle between source and target task", "pi"),
            "depth": (depths, "layers, with the readout"),
            "epsilon": (epsilon, "ε of the bounds"),
            "draw": (np.arange(p.draws), "draw of the inputs"),
        },
    )


def _tasks(p, dimension):
    """Source (norms, 1, d) and target (angles, d)."""
    angle = np.pi * np.array(p.angle)
    source, target = np.zeros((len(p.source_norm), 1, dimension)), np.zeros((len(angle), dimension))
    source[..., 0] = np.array(p.source_norm)[:, None]
    target[:, 0], target[:, 1] = np.cos(angle), np.sin(angle)
    return source, target


def _risks(p, dimension, gamma, depths):
    """(depths, norms, angles, draws) of so many dimensions and samples."""
    samples = round(gamma * dimension)
    if abs(samples - gamma * dimension) > 1e-9:
        raise UserError(f"gamma {gamma:g} of {dimension} dimensions is no whole number of samples.")
    rng = generator("gaussian_bounds", {"dimension": dimension, "samples": samples}, p.seed, "inputs")
    X = rng.standard_normal((p.draws, samples, dimension))
    source, target = (task[..., None, :] for task in _tasks(p, dimension))
    limits = deep_linear_limit(source, target, X, depths[:, None, None, None])
    return population_risk(limits, target, np.ones(dimension))
