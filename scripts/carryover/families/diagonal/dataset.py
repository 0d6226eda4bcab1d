"""The dataset that a stage of diagonal networks writes: what each run was, where it started, and where it ended."""

from carryover.families import _dataset

MEANING = {
    "main_features": "active dimensions of the main task",
    "initial_scale": "value of all weights at the start from scratch",
}
LAYERS = {
    "first_plus": "first-layer weights of the positive path",
    "first_minus": "first-layer weights of the negative path",
    "second_plus": "readout weights of the positive path",
    "second_minus": "readout weights of the negative path",
}


def assemble(problem, trained, runs, outputs, auxiliary_teacher):
    """Dataset over `run`: `runs` maps coordinate names to (runs,) values, `outputs` names the readouts."""
    variables = {
        "coefficients": (("run", "output", "input"), trained.weights.coefficients(), "coefficients β of the network"),
        "teacher": (("run", "input"), problem.teacher, "coefficients of the task that is learned"),
        "auxiliary_teacher": (("run", "input"), auxiliary_teacher, "coefficients of the auxiliary task"),
        **_dataset.of_training(trained),
        **_weights(trained.weights, "", ""),
        **_weights(problem.start, "start_", " before training"),
    }
    return _dataset.assemble(variables, runs, outputs, MEANING)


def _weights(weights, prefix, suffix):
    dims = {"first": ("run", "input"), "second": ("run", "output", "input")}
    return {
        prefix + name: (dims[name.partition("_")[0]], getattr(weights, name), meaning + suffix)
        for name, meaning in LAYERS.items()
    }
