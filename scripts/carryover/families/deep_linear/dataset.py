"""The dataset that a stage of deep linear networks writes: what each run was, and the function it ended at."""

import numpy as np

from carryover.families import _dataset

MEANING = {
    "depth": "layers, with the readout",
    "gamma": "samples per input dimension, n/d",
    "angle": "angle between source and target task",
    "noise": "standard deviation of the label noise",
    "relation": "how the target is made of the source",
    "target_norm": "norm of the target's coefficients",
    "source_norm": "norm of the source's coefficients",
    "stretch": "factor of the source in the target",
    "deviation": "norm of the rest of the target, in units of the source's",
    "ridge": "strength of the ridge penalty on the readout",
    "weight_decay": "strength of weight decay",
}
UNITS = {"angle": "pi"}


def assemble(problem, trained, runs, extra=None):
    """Dataset over `run`: `runs` maps coordinates to (runs,) values, `extra` other variables as in `_dataset`."""
    coefficients = ("run", "output", "input")
    variables = {
        "coefficients": (coefficients, trained.weights.coefficients[:, None], "coefficients of the network's function"),
        "teacher": (("run", "input"), problem.teacher, "coefficients of the task that is learned"),
    }
    single = {
        name: (dims, np.asarray(values, dtype=np.float32), text) for name, (dims, values, text) in variables.items()
    }
    found = _dataset.assemble(single | _dataset.of_training(trained) | (extra or {}), runs, ("main",), MEANING)
    if "layer" in found.dims:
        layers = np.arange(1, found.sizes["layer"] + 1)
        found = found.assign_coords(layer=("layer", layers, {"long_name": "layer", "units": "1"}))
    for name, unit in UNITS.items():
        if name in found.coords:
            found[name].attrs["units"] = unit
    return found


def features(share, alignment):
    """Variables of what pretraining made of the features Φ = W_1 … W_{L−1} (theorem 3.4)."""
    return {
        "feature_share": ("run", share, "share of the pretrained features' power that is of rank one"),
        "feature_alignment": ("run", alignment, "cosine of that one feature with the source task"),
    }


def weights(networks):
    """Variables of the layers of networks."""
    hidden, readout = (np.asarray(layers, dtype=np.float32) for layers in (networks.hidden, networks.readout))
    return {
        "hidden": (("run", "layer", "row", "column"), hidden, "weights of the layers before the readout"),
        "readout": (("run", "row"), readout, "readout weights"),
    }
