"""Solver without training: published weights, from a local file or an installed package."""

import numpy as np

from carryover.errors import UserError
from carryover.networks.convnet_weights import load_weights, packed
from carryover.networks.efficientnet import installed_weights
from carryover.training.result import Trained


def solve(problem, p, progress=None):
    """`Trained` of networks that have the file's weights, all but the last layer; nothing is known of their loss.

    Raises UserError, naming the file, for one that is missing, damaged, of another network or with another checksum.
    """
    if not p.weights and p.network != "efficientnet_lite0":
        raise UserError("weights must name a file that torch.save wrote of the network's state_dict.")
    weights, rows = p.weights or installed_weights(), []
    for run in range(len(problem.tasks[0])):
        network = problem.network
        network.load_state_dict(problem.state(run))
        load_weights(network, weights, p.sha256 or None, classes_differ=True)
        rows.append(packed(network.state_dict()))
    unknown = np.full(len(rows), np.nan)
    return Trained.solved(np.stack(rows), unknown, unknown)
