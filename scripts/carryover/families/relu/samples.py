"""The main task's samples in the dataset of finetuning, for measures of what else would fit them."""

import numpy as np


def beside(variables, problem, p):
    """`variables`, a function of what was trained, with the samples of a problem where they are to be kept."""
    return (lambda trained: variables(trained) | _kept(problem, max(p.samples))) if p.keep_samples else variables


def _kept(problem, most):
    """Inputs and targets, up to as many with NaN."""
    X, y = problem.X[0][problem.sets], problem.y[0]
    missing = most - y.shape[1]
    X = np.pad(X, [(0, 0), (0, missing), (0, 0)], constant_values=np.nan)
    y = np.pad(y, [(0, 0), (0, missing)], constant_values=np.nan)
    return {
        "inputs": (("run", "sample", "input"), X, "inputs of the main task's samples; NaN where there are fewer"),
        "targets": (("run", "sample"), y, "targets of the main task's samples; NaN where there are fewer"),
    }
