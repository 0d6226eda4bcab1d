"""The dataset that a stage of mean-field ReLU networks writes: what each run was, and how well it learned."""

from carryover.families import datasets
from carryover.theory.kernels import function_power, function_variance

MEANING = {
    "ablated": "fraction of the target's units that the source lacks; NaN from scratch",
    "anchor": "strength of the penalty on the way of the input weights in pretraining, infinite where they stayed; NaN "
    "from scratch",
    "readout": "where the readout's gradient flow starts, or least_squares; empty where more than the readout learns",
    "max_time": "time at which the readout's gradient flow ends at the latest; NaN where there is none",
    "teacher_scale": "factor on the target's coefficients",
    "noise": "standard deviation of the label noise",
    "draw": "number of the data set among those of a seed",
}


def weights(network, start_first, target, source_readout):
    """Variables of networks (runs, …) that are means over units, with where they started and both teachers."""
    first, unit = ("run", "unit", "input"), ("run", "teacher_unit")
    variables = {
        "first": (first, network.first, "input weights, of length 1"),
        "second": (("run", "output", "unit"), network.second, "readout weights; the output is the mean over units"),
        "start_first": (first, start_first, "input weights before pretraining"),
        "teacher_directions": ((*unit, "input"), target.first, "unit vectors of the target's units"),
        "teacher_readout": (unit, target.second[:, 0], "coefficients of the target, which is a mean over units"),
        "source_readout": (unit, source_readout, "coefficients of the source, 0 where a unit is ablated"),
    }
    return datasets.single(variables)


def size(target):
    """Variables `target_power`, E f*², and `target_variance` of targets (runs, …)."""
    power, variance = (of(target.second[:, 0], target.first) for of in (function_power, function_variance))
    return {
        "target_power": ("run", power, "mean square of the target without noise"),
        "target_variance": ("run", variance, "variance of the target without noise, which risks are compared with"),
    }
