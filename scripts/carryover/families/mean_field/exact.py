"""Solver without training: a new readout of least norm on the pretrained features, or the pretrained network itself."""

import numpy as np

from carryover.families.mean_field import task
from carryover.networks.relu import Weights
from carryover.theory.kernels import function_power, relu_kernel, relu_risk
from carryover.training.result import Trained


def solve(problem, p, progress=None):
    """`Trained` without steps. linear_transfer: the readout c of least norm that minimises Σ(1/m Φc − y)².

    Φ (n, m) are the pretrained features of the samples. It is the limit of gradient flow of a readout that starts at 0,
    and the kernel interpolation of equation 18 of "Features are fate". Directions whose singular value is below
    `cutoff` times the largest are left out: training leaves groups of nearly parallel units, and what tells them apart
    would be fitted to what the features cannot represent, at a risk up to thousands of times the target's power where
    n is near the number of such directions. As samples grow, the risk goes to what is outside the span of the features
    at a cutoff of their kernel's eigenvalues of `cutoff`². The fitted readouts are not kept.
    """
    runs = len(problem.networks)
    if p.protocol == "pretrained":
        network, teacher = task.summed(problem.start), task.summed(problem.teacher)
        risks = relu_risk(network.first, network.second[:, 0], teacher.first, teacher.second[:, 0])
        return Trained.solved(problem.start, np.full(runs, np.nan), risks)
    loss, risk = np.full((2, runs), np.nan)
    for index in range(len(problem.start.first)):
        network, teacher = (Weights(one.first[index], one.second[index]) for one in (problem.start, problem.teacher))
        error = _quadratic_risk(network, teacher)
        for run in np.flatnonzero(problem.networks == index):
            features = network.responses(problem.X[problem.sets[run]]) / len(network.first)
            y = problem.y[problem.sets[run]]
            readout = np.linalg.lstsq(features, y, rcond=p.cutoff)[0]
            loss[run], risk[run] = ((features @ readout - y) ** 2).mean() / 2, error(readout)
        if progress is not None:
            progress({"step": index + 1, "active": len(problem.start.first) - index - 1})
    return Trained.solved(None, loss, risk)


def _quadratic_risk(network, teacher):
    """Function of a readout (m,) on a network's features: its risk. The kernels are worked out once."""
    m, m_star, c_star = len(network.first), len(teacher.first), teacher.second[0]
    kernel = relu_kernel(network.first, network.first) / m**2
    cross = relu_kernel(network.first, teacher.first) @ c_star / (m * m_star)
    power = function_power(c_star, teacher.first)
    return lambda c: max(0.0, c @ kernel @ c - 2 * c @ cross + power)
