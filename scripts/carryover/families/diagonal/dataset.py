"""The dataset that a stage of diagonal networks writes: what each run was, where it started, and where it ended."""

import numpy as np
import xarray as xr

MEANING = {
    "seed": "seed of teacher, data and weights",
    "main_features": "active dimensions of the main task",
    "overlap": "fraction of the main task's features that are auxiliary ones",
    "rescale": "factor on the weights before training",
    "samples": "main-task samples",
    "protocol": "what is trained, from which start",
    "solver": "how it was solved",
    "pretrain_solver": "how the pretrained network was solved",
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
        "loss": ("run", trained.loss, "mean squared error on the training data"),
        "evaluations": ("run", trained.evaluations, "gradient evaluations"),
        "converged": ("run", trained.converged.astype(np.int8), "1 where the loss reached its tolerance"),
        "risk_best": ("run", trained.risk_best, "smallest risk along training"),
        "time": (("run", "checkpoint"), trained.time, "flow time of the checkpoint"),
        "loss_curve": (("run", "checkpoint"), trained.loss_curve, "loss along training"),
        "risk_curve": (("run", "checkpoint"), trained.risk_curve, "risk along training"),
        **_weights(trained.weights, "", ""),
        **_weights(problem.start, "start_", " before training"),
    }
    data = xr.Dataset({name: (dims, values) for name, (dims, values, _) in variables.items()})
    for name, (_, _, meaning) in variables.items():
        data[name].attrs = {"long_name": meaning, "units": "1"}
    coordinates = {**{name: ("run", values) for name, values in runs.items()}, "output": list(outputs)}
    data = data.assign_coords(coordinates)
    for name in runs:
        data[name].attrs = {"long_name": MEANING[name], "units": "1"}
    data["output"].attrs = {"long_name": "readout", "units": "1"}
    return data


def _weights(weights, prefix, suffix):
    dims = {"first": ("run", "input"), "second": ("run", "output", "input")}
    return {
        prefix + name: (dims[name.partition("_")[0]], getattr(weights, name), meaning + suffix)
        for name, meaning in LAYERS.items()
    }
