"""Solver: the minimiser of the Q penalty of eq 22, which assumes that both paths start from the same weights.

After pretraining they do not. This is the flow limit of the network with each path's first layer replaced by the larger
of the two, √|β_aux| on the auxiliary features, as the paper reads its eq 22; `exact` starts from the real weights.
"""

from dataclasses import replace

import numpy as np

from carryover.errors import UserError
from carryover.families.diagonal import exact
from carryover.networks.diagonal import Weights


def solve(problem, p=None, progress=None):
    """As `exact.solve`; UserError where only the readout is trained, for which eq 22 says nothing."""
    if "first" not in problem.trainable:
        raise UserError("a probe minimises no Q penalty: choose solver exact, flow or descent.")
    first = np.maximum(np.abs(problem.start.first_plus), np.abs(problem.start.first_minus))
    second = np.maximum(np.abs(problem.start.second_plus), np.abs(problem.start.second_minus))
    return exact.solve(replace(problem, start=Weights(first, first, second, second)))
