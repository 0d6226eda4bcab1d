"""The dataset that a stage of ReLU networks writes: where each run started, and where it ended."""

from carryover.families import datasets

MEANING = {
    "main_features": "teacher units of the main task",
    "correlation": "cosine between auxiliary units and those that belong to them; NaN where there are several",
    "unit_correlations": "cosine between each main unit and its auxiliary one",
    "magnitude": "factor on the main task's coefficients",
    "initial_scale": "scale of the weights from scratch; NaN for pretrained ones",
}


def variables(problem, auxiliary, trained):
    """Variables of networks and of the tasks that they and their pretraining learn, Teachers (runs, …)."""
    first, second = ("run", "unit", "input"), ("run", "output", "unit")
    single = {
        "first": (first, trained.weights.first, "input weights"),
        "second": (second, trained.weights.second, "readout weights"),
        "start_first": (first, problem.start.first, "input weights before training"),
        "start_second": (second, problem.start.second, "readout weights before training"),
        **_teacher("teacher", problem.teacher, "task that is learned"),
        **_teacher("auxiliary", auxiliary, "auxiliary task"),
    }
    return {**datasets.single(single), **datasets.of_training(trained)}


def _teacher(name, teacher, what):
    return {
        f"{name}_directions": (("run", f"{name}_unit", "input"), teacher.directions, f"unit vectors of the {what}"),
        f"{name}_readout": (("run", f"{name}_unit"), teacher.readout, f"coefficients of the {what}"),
    }
