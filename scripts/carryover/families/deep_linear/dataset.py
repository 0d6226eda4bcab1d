"""The dataset that a stage of deep linear networks writes: the function that each run ended at."""

import numpy as np

from carryover.families import datasets

MEANING = {
    "depth": "layers, with the readout",
    "frozen": "first layers that are not trained",
    "gamma": "samples per input dimension, n/d",
    "angle": ("angle between source and target task", "pi"),
    "noise": "standard deviation of the label noise",
    "relation": "how the target is made of the source",
    "target_norm": "norm of the target's coefficients",
    "source_norm": "norm of the source's coefficients",
    "stretch": "factor of the source in the target",
    "deviation": "norm of the rest of the target, in units of the source's",
    "ridge": "strength of the ridge penalty on the readout",
    "weight_decay": "strength of weight decay",
}


def variables(problem, extra, trained):
    """Variables of networks, with others that are known of them."""
    coefficients = ("run", "output", "input")
    single = {
        "coefficients": (coefficients, trained.weights.coefficients[:, None], "coefficients of the network's function"),
        "teacher": (("run", "input"), problem.teacher, "coefficients of the task that is learned"),
    }
    return {**datasets.single(single), **datasets.of_training(trained), **extra}


def features(share, alignment):
    """Variables of what pretraining made of the features Φ = W_1 … W_{L−1} (theorem 3.4)."""
    return {
        "feature_share": ("run", share, "share of the pretrained features' power that is of rank one"),
        "feature_alignment": ("run", alignment, "cosine of that one feature with the source task"),
    }


def weights(networks, depth):
    """Variables of the layers of networks; those that they lack of a network of this depth are NaN."""
    lacking = depth - 1 - networks.hidden.shape[1]
    hidden = np.pad(networks.hidden, ((0, 0), (0, lacking), (0, 0), (0, 0)), constant_values=np.nan)
    single = {
        "hidden": (("run", "layer", "row", "column"), hidden, "weights of the layers before the readout"),
        "readout": (("run", "row"), networks.readout, "readout weights"),
    }
    return {**datasets.single(single), "layer": ("layer", np.arange(1, depth), "layer")}
