"""The dataset that a stage of diagonal networks writes: where each run started, and where it ended."""

from carryover.families import datasets

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


def variables(problem, auxiliary_teacher, trained):
    """Variables of networks and of the tasks that they and their pretraining learn, (runs, D)."""
    return {
        "coefficients": (("run", "output", "input"), trained.weights.coefficients(), "coefficients β of the network"),
        "teacher": (("run", "input"), problem.teacher, "coefficients of the task that is learned"),
        "auxiliary_teacher": (("run", "input"), auxiliary_teacher, "coefficients of the auxiliary task"),
        **datasets.of_training(trained),
        **_weights(trained.weights, "", ""),
        **_weights(problem.start, "start_", " before training"),
    }


def _weights(weights, prefix, suffix):
    dims = {"first": ("run", "input"), "second": ("run", "output", "input")}
    return {
        prefix + name: (dims[name.partition("_")[0]], getattr(weights, name), meaning + suffix)
        for name, meaning in LAYERS.items()
    }
