"""The dataset that a stage of ReLU networks writes: where each run started, and where it ended."""

import numpy as np

from carryover.families import datasets

MEANING = {
    "main_features": "teacher units of the main task",
    "correlation": "cosine between auxiliary units and those that belong to them; NaN where there are several",
    "unit_correlations": "cosine between each main unit and its auxiliary one",
    "magnitude": "factor on the main task's coefficients",
    "initial_scale": "scale of the weights from scratch; NaN for pretrained ones",
}


def variables(problem, auxiliary, trained, most=None):
    """Variables of networks and of the tasks that they and their pretraining learn, Teachers (runs, …).

    Where `most` is told, the main task's samples are among them, up to as many with NaN.
    """
    first, second = ("run", "unit", "input"), ("run", "output", "unit")
    single = {
        "first": (first, trained.weights.first, "input weights"),
        "second": (second, trained.weights.second, "readout weights"),
        "start_first": (first, problem.start.first, "input weights before training"),
        "start_second": (second, problem.start.second, "readout weights before training"),
        **_teacher("teacher", problem.teacher, "task that is learned"),
        **_teacher("auxiliary", auxiliary, "auxiliary task"),
    }
    samples = {} if most is None else _samples(problem, most)
    return {**datasets.single(single), **samples, **datasets.of_training(trained)}


def _samples(problem, most):
    X, y = problem.X[0][problem.sets], problem.y[0]
    X, y = (np.pad(a, [(0, 0), (0, most - y.shape[1]), (0, 0)][: a.ndim], constant_values=np.nan) for a in (X, y))
    return {
        "inputs": (("run", "sample", "input"), X, "inputs of the main task's samples; NaN where there are fewer"),
        "targets": (("run", "sample"), y, "targets of the main task's samples; NaN where there are fewer"),
    }


def _teacher(name, teacher, what):
    return {
        f"{name}_directions": (("run", f"{name}_unit", "input"), teacher.directions, f"unit vectors of the {what}"),
        f"{name}_readout": (("run", f"{name}_unit"), teacher.readout, f"coefficients of the {what}"),
    }
