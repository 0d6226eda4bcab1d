"""The dataset that a stage of ReLU networks writes: what each run was, where it started, and where it ended."""

import numpy as np

from carryover.families import _dataset

MEANING = {
    "main_features": "teacher units of the main task",
    "correlation": "cosine between auxiliary units and those that belong to them; NaN where there are several",
    "unit_correlations": "cosine between each main unit and its auxiliary one",
    "magnitude": "factor on the main task's coefficients",
    "initial_scale": "scale of the weights from scratch; NaN for pretrained ones",
}


def assemble(problem, trained, runs, outputs, auxiliary):
    """Dataset over `run`: `runs` maps coordinate names to (runs,) values, `outputs` names the readouts."""
    first, second = ("run", "unit", "input"), ("run", "output", "unit")
    variables = {
        "first": (first, trained.weights.first, "input weights"),
        "second": (second, trained.weights.second, "readout weights"),
        "start_first": (first, problem.start.first, "input weights before training"),
        "start_second": (second, problem.start.second, "readout weights before training"),
        **_teacher("teacher", problem.teacher, "task that is learned"),
        **_teacher("auxiliary", auxiliary, "auxiliary task"),
    }
    single = {
        name: (dims, np.asarray(values, dtype=np.float32), text) for name, (dims, values, text) in variables.items()
    }
    return _dataset.assemble(single | _dataset.of_training(trained), runs, outputs, MEANING)


def _teacher(name, teacher, what):
    return {
        f"{name}_directions": (("run", f"{name}_unit", "input"), teacher.directions, f"unit vectors of the {what}"),
        f"{name}_readout": (("run", f"{name}_unit"), teacher.readout, f"coefficients of the {what}"),
    }
