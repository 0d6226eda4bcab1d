"""What the solvers of ReLU networks learn from, and what they watch along training."""

import numpy as np
import torch

from carryover.streams import generator
from carryover.tasks.sparse import sphere
from carryover.theory.kernels import relu_kernel, relu_risk
from carryover.training.relu import Task

TEST_SAMPLES = 2000  # for what has no closed form


def tasks(problem):
    """One `Task` for each output of a problem."""
    return [Task(X, y, problem.sets) for X, y in zip(problem.X, problem.y, strict=True)]


def tolerances(problem, tolerance, loss):
    """Training losses (runs,) at which training stops: a fraction of those of networks whose outputs are 0."""
    if loss == "cross_entropy":
        return np.full(len(problem.sets), tolerance * len(problem.y) * np.log(2))
    return tolerance * sum(np.square(y).mean(1) for y in problem.y)


def observables(problem, loss):
    """Functions by name: the risk, the exact mean squared error or for cross-entropy the share of wrong signs, …"""
    return _classification(problem.teacher) if loss == "cross_entropy" else {"risk": _risk(problem.teacher)}


def _risk(teacher):
    """Mean squared error of output 0 over the whole sphere, in closed form: E f² − 2 E f f* + E f*², the last once."""
    constant = relu_risk(teacher.directions[:, :0], teacher.readout[:, :0], teacher.directions, teacher.readout)
    units = [teacher.units(run) for run in range(len(constant))]

    def risk(first, second, runs):
        first, readout = first.double(), second[:, 0].double()
        if first.device.type != "cpu":
            arrays = (_tensor(values[runs], first) for values in (teacher.directions, teacher.readout, constant))
            return _distance(first, readout, *arrays)
        # NumPy's inverse sines are four times as fast as PyTorch's, and pairs of one network's units stay in the cache.
        networks = zip(runs, first.numpy(), readout.numpy(), strict=True)
        return _tensor([_distance(W, a, *units[run], constant[run]) for run, W, a in networks], first)

    return risk


def _distance(first, readout, directions, coefficients, constant):
    """E (f − f*)² (...) of networks (..., H, D), given E f*²."""
    power = relu_risk(first, readout, directions[..., :0, :], coefficients[..., :0])
    cross = readout[..., None, :] @ relu_kernel(first, directions) @ coefficients[..., :, None]
    return (power - 2 * cross[..., 0, 0] + constant).clip(0)


def _classification(teacher):
    """Share of test inputs whose label is wrong, and participation ratio of the hidden responses to them."""
    X = sphere(generator("classification", "", 0, "test inputs"), TEST_SAMPLES, teacher.directions.shape[-1])
    positive = teacher(X) > 0

    def error(first, second, runs):
        outputs = (second[:, :1] @ (first @ _tensor(X.T, first).to(first.dtype)).relu_())[:, 0]
        return ((outputs > 0) != torch.as_tensor(positive[runs], device=first.device)).double().mean(1)

    def effective_features(first, second, runs):
        first = first.float()  # most of the cost of training on few samples, and precise enough for a ratio of sums
        responses = (first @ _tensor(X.T, first).float()).relu_()
        responses -= responses.mean(2, keepdim=True)
        covariance = (responses @ responses.transpose(1, 2)).double()
        return covariance.diagonal(dim1=1, dim2=2).sum(1) ** 2 / covariance.square().sum((1, 2))

    return {"risk": error, "effective_features": effective_features}


def _tensor(values, like):
    return torch.as_tensor(np.ascontiguousarray(values), dtype=torch.float64, device=like.device)
