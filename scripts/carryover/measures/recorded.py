"""What finetuning has recorded of its networks, selected from their shards."""

import numpy as np

from carryover.config import plugins


@plugins.measure(selects=True)
def risk(data):
    """Risk of the main task at the end of training and at its best along the way, loss and effort, of shape (run,), and
    what else some families know of their training."""
    names = ("risk_final", "risk_best", "loss", "evaluations", "converged")
    further = ("learning_rate", "at_rest", "finished", "validation_loss", "target_power", "target_variance",
               "pretrained_loss", "feature_share", "feature_alignment")  # fmt: skip
    return data[[*names, *(name for name in further if name in data)]]


@plugins.measure(needs=["time"], selects=True)
def trajectory(data):
    """Time and every curve of loss, risk and more, of shape (run, checkpoint), NaN after a run's last checkpoint; empty
    for networks that were solved without training."""
    curves = data[["time", *(name for name in data.data_vars if name.endswith("_curve"))]]
    curves = curves.assign_coords(checkpoint=np.arange(curves.sizes["checkpoint"]))
    curves["checkpoint"].attrs = {"long_name": "number of the checkpoint", "units": "1"}
    return curves


@plugins.measure(needs=["coefficients", "teacher"], selects=True)
def coefficients(data):
    """Coefficients of the main readout, to compare solvers with each other, and of the teacher, (run, input)."""
    return data[["coefficients", "teacher"]].isel(output=0, drop=True)


@plugins.measure(needs=["distance", "benign_overfitting", "covariance"], selects=True)
def bounds(data):
    """Of linear functions on pairs of image tasks: error, each bound, and what the source says
    of the target's labels, (run,)."""
    return data[["risk_final", "distance", "benign_overfitting", "covariance", "covariance_top", "target_alignment"]]


@plugins.measure(needs=["bound", "corollary", "tangent_distance"], selects=True)
def ntk_bound(data):
    """Of wide ReLU networks, (run,): risks before and after, how training ended, and their bound by the tangent kernel
    ("Finetuning with linear teachers", theorem 6.1)."""
    return data[["risk_final", "absolute_risk", "start_risk", "loss", "converged", "evaluations", "tangent_distance",
                 "gram_distance", "ntk_norm", "ntk_norm_linear", "bound", "corollary"]]  # fmt: skip
