"""Solvers of convolutional networks: of a `training.convnet.Problem` and parameters `p`, they return `Trained`."""

import numpy as np
import torch

from carryover.errors import UserError
from carryover.networks.convnet_weights import find_weights_file, load_weights, pack
from carryover.training.convnet import gradient_descent
from carryover.training.devices import torch_device
from carryover.training.result import Trained

PORTABLE = {"descent": "distribution"}  # normalisation over few values and large steps enlarge any rounding


def descent(problem, p):
    """Gradient descent with momentum on the cross-entropy, runs together or one by one: weights (runs, P).

    Raises UserError where a batch is too small for normalisation, or a GPU's memory for one network.
    """
    statistics = getattr(p, "statistics", "kept")  # pretraining has none to renew, and no protocol
    # Without TensorFloat-32, which keeps 10 bits, "float32" is on a GPU what it is on a CPU.
    try:
        with torch.backends.cudnn.flags(enabled=True, deterministic=True, allow_tf32=p.precision != "float32"):
            return gradient_descent(
                problem, learning_rate=p.learning_rate, decay="constant" if hasattr(p, "protocol") else "cosine",
                weight_decay=p.weight_decay, batch_size=p.batch_size, tolerance=p.tolerance, max_epochs=p.max_epochs,
                checkpoints=getattr(p, "checkpoints", 16), renew=statistics != "kept",
                renew_tested=statistics == "of_samples", precision=p.precision, device=torch_device(p.device),
                together=p.max_networks_per_batch,
            )  # fmt: skip
    except ValueError as error:
        if "more than 1 value per channel" not in str(error):
            raise
        raise UserError(
            f"batch_size is {p.batch_size}, so that one of {len(problem.tasks[0][0].train)} samples is a batch of its "
            "own, and layers with one place cannot be normalised: raise batch_size, or change the number of samples."
        ) from None


def published(problem, p):
    """Weights from a file or an installed package, all but the last layer; nothing is known of their loss.

    Raises UserError, naming the file, for one that is missing, damaged, of another network or with another checksum.
    """
    if not p.weights and p.network != "efficientnet_lite0":
        raise UserError("weights must name a file that torch.save wrote of the network's state_dict.")
    weights, rows = p.weights or find_weights_file(), []
    for run in range(len(problem.tasks[0])):
        network = problem.network
        network.load_state_dict(problem.state(run))
        load_weights(network, weights, classes_differ=True)
        rows.append(pack(network.state_dict()))
    unknown = np.full(len(rows), np.nan)
    return Trained.from_solution(np.stack(rows), unknown, unknown)
