"""What the datasets of every family have: what each run was, how its training went, and a label on everything."""

import numpy as np
import xarray as xr

MEANING = {
    "seed": "seed of teacher, data and weights",
    "overlap": "fraction of the main task's features that are auxiliary ones",
    "rescale": "factor on the weights before training",
    "samples": "main-task samples",
    "protocol": "what is trained, from which start",
    "solver": "how it was solved",
    "loss_function": "loss that was minimised; the risk is its test error: for cross_entropy the share misclassified",
    "pretrain_solver": "how the pretrained network was solved",
    "output": "readout",
}
CURVES = {
    "loss": "loss",
    "risk": "risk",
    "effective_features": "effective number of main features",
    "l1_norm": "ℓ1 norm of the main task's coefficients",
    "group_norm": "ℓ1,2 norm of all tasks' coefficients",
}
MEASURED = {
    "learning_rate": "step of gradient descent",
    "at_rest": "1 where training came to rest above its tolerance",
    "ridge_strength": "ridge strength in units of the kernel's mean eigenvalue",
    "validation_loss": "mean squared error on samples held out, by cross-validation",
}


def of_training(trained):
    """Variables of a `Trained`, without its weights: {name: (dimensions, values, meaning)}."""
    curve = ("run", "checkpoint")
    measured = {name: getattr(trained, name) for name in MEASURED}
    curves = {f"{k}_curve": (curve, v, f"{CURVES[k]} along training") for k, v in trained.curves.items()}
    return {
        "loss": ("run", trained.loss, "loss on the training data"),
        "evaluations": ("run", trained.evaluations, "gradient evaluations"),
        "converged": ("run", trained.converged.astype(np.int8), "1 where the loss reached its tolerance"),
        "risk_final": ("run", trained.risk_final, "risk at the end of training"),
        "risk_best": ("run", trained.risk_best, "smallest risk along training"),
        **{name: ("run", values, MEASURED[name]) for name, values in measured.items() if values is not None},
        "time": (curve, trained.time, "flow time of the checkpoint"),
        **curves,
    }


def single(variables):
    """The same variables in single precision."""
    return {name: (dims, np.asarray(values, np.float32), text) for name, (dims, values, text) in variables.items()}


def assemble(pieces, outputs, meaning, attributes):
    """Dataset over `run` of pieces, one after the other: [({coordinate: (runs,) values}, their variables)].

    What has no runs is the same in all, and is taken from the last. `outputs` names the readouts, and `meaning` says
    what the coordinates of this family mean, besides those that all have.
    """
    coordinates, variables = pieces[-1]
    meanings = {**MEANING, **meaning, **{name: text for name, (_, _, text) in variables.items()}}
    runs = {name: ("run", np.concatenate([one[name] for one, _ in pieces])) for name in coordinates}
    kept = {name: (dims, values) for name, (dims, values, _) in variables.items()}
    for name, (dims, _) in kept.items():
        if "run" in (dims, dims[0]):
            kept[name] = (dims, np.concatenate([one[name][1] for _, one in pieces]))
    data = xr.Dataset(kept, {**runs, "output": list(outputs)}, attributes)
    for name, variable in data.variables.items():
        label, unit = meanings[name] if isinstance(meanings[name], tuple) else (meanings[name], "1")
        variable.attrs = {"long_name": label, "units": unit}
    return data
