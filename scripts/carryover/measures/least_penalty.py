"""Does the penalty predict which function a ReLU network finds? Compares every trained network with the prediction.

"The implicit penalty of finetuning in ReLU networks" predicts that finetuning finds the function of least Σ r̃
(equations 4, 11) among those that fit the samples. For few samples in few dimensions this function is computed from the
initial weights and the samples of each network.
"""

from functools import partial

import numpy as np

from carryover.networks.relu import Weights
from carryover.runs import measured_by_run, teacher_units
from carryover.theory.kernels import relu_power, relu_risk
from carryover.theory.least_penalty import least_penalty
from carryover.theory.penalty import network_penalty, unit_cosines


def measure(data, p):
    """Of shape (run,), of networks of one output; only for few samples in few dimensions."""
    return measured_by_run(data, partial(_compare, gap=p.gap))


def _compare(network, gap):
    """{variable: (value, meaning)} of one network and the function of least penalty on its samples."""
    end, start = (Weights.of_dataset(network, prefix) for prefix in ("", "start_"))
    trained, teacher = (end.first, end.second[0]), teacher_units(network)
    known = np.isfinite(network["targets"].values)  # other networks may have more samples
    X, y = network["inputs"].values[known], network["targets"].values[known]
    least = least_penalty(start.first, start.second[0], X, y, gap=gap)
    power, errors = relu_power(*teacher), end.outputs(X)[:, 0] - y
    return {
        "penalty": (network_penalty(*trained, start.first, start.second[0]),
                    "penalty R̃ of the function that was found, from the weights that training started from"),
        "penalty_least": (least.penalty,
                          "penalty of the function of least penalty that fits the samples, where units may be split"),
        "penalty_bound": (least.bound, "what no function that fits them costs less than"),
        "risk_found": (relu_risk(*trained, *teacher) / power,
                       "risk of the function that was found, over the teacher's mean square"),
        "risk_predicted": (relu_risk(least.first, least.readout, *teacher) / power,
                           "risk of the function of least penalty, over the teacher's mean square"),
        "difference": (relu_risk(*trained, least.first, least.readout) / power,
                       "mean square of the difference of these functions, over the teacher's"),
        "unfitted": ((errors**2).mean() / (y**2).mean(),
                     "mean squared error on the samples, over the mean square of their targets"),
        "turned": (_turned(end.first, start.first),
                   "1 − cosine by which weights have turned, mean over units weighted by their squared length at the "
                   "start"),
        "turned_predicted": (_turned(least.first, least.start), "the same of the function of least penalty"),
    }  # fmt: skip


def _turned(first, start):
    """Mean of 1 − cosine, weighted by squared length at the start; NaN where all are new. What has no length has not
    turned."""
    squares = (start**2).sum(1)
    return (squares * (1 - unit_cosines(first, start))).sum() / squares.sum() if start.any() else np.nan
