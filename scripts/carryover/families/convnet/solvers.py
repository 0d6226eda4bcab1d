"""Solvers of convolutional networks."""

from dataclasses import replace

import numpy as np
import torch

from carryover.errors import UserError
from carryover.networks.convnet_weights import load_weights, packed
from carryover.networks.efficientnet import installed_weights
from carryover.training.convnet import gradient_descent
from carryover.training.devices import in_chunks, torch_device
from carryover.training.result import Trained

PORTABLE = {"descent": "distribution"}  # normalisation over few values and large steps enlarge any rounding


def descent(problem, p, progress=None):
    """Gradient descent with momentum on the cross-entropy, runs together or one by one: weights (runs, P).

    As many runs are trained together as `p` says, of those that have equally many images. Where a GPU's memory is too
    small for them, half as many. Raises UserError where it is too small for one.
    """
    groups = _alike(problem.tasks)
    pieces = [np.split(group, range(p.together, len(group), p.together)) for group in groups]
    try:
        parts = [part for some in pieces for part in in_chunks(lambda runs: _descend(problem, runs, p, progress), some)]
    except ValueError as error:
        if "more than 1 value per channel" not in str(error):
            raise
        raise UserError(
            f"batch_size is {p.batch_size}, so that one of {len(problem.tasks[0][0].train)} samples is a batch of its "
            "own, and layers with one place cannot be normalised: raise batch_size, or change the number of samples."
        ) from None
    joined = Trained.joined(parts, np.concatenate([part.weights for part in parts]))
    return _ordered(joined, np.argsort(np.concatenate(groups)))


def _alike(tasks):
    """Runs that have equally many images of every task."""
    counts = np.array([[len(task.train) for task in some] for some in tasks])
    kinds = np.unique(counts, axis=1, return_inverse=True)[1].ravel()
    return [np.flatnonzero(kinds == kind) for kind in range(kinds.max() + 1)]


def _ordered(trained, order):
    values = {name: value[order] for name, value in vars(trained).items() if isinstance(value, np.ndarray)}
    return replace(trained, **values, curves={name: curve[order] for name, curve in trained.curves.items()})


def _descend(problem, runs, p, progress):
    tests = [(task.test, task.test_labels) for task in (problem.tasks[0][run] for run in runs)]
    statistics = getattr(p, "statistics", "kept")
    # Without TensorFloat-32, which keeps 10 bits, "float32" is on a GPU what it is on a CPU.
    with torch.backends.cudnn.flags(enabled=True, allow_tf32=p.precision != "float32"):
        return gradient_descent(
            problem.network, [problem.state(run) for run in runs], problem.samples(runs), tests, problem.images,
            lambda place, use, number: problem.draws(runs[place], use, number),
            learning_rate=p.learning_rate, decay="constant" if hasattr(p, "protocol") else "cosine",
            weight_decay=p.weight_decay, batch_size=p.batch_size, tolerance=p.tolerance, max_epochs=p.max_epochs,
            checkpoints=getattr(p, "checkpoints", 16), renew=statistics != "kept",
            renew_tested=statistics == "of_samples", precision=p.precision, device=torch_device(p.device),
            progress=progress,
        )  # fmt: skip


def published(problem, p, progress=None):
    """Weights from a file or an installed package, all but the last layer; nothing is known of their loss.

    Raises UserError, naming the file, for one that is missing, damaged, of another network or with another checksum.
    """
    if not p.weights and p.network != "efficientnet_lite0":
        raise UserError("weights must name a file that torch.save wrote of the network's state_dict.")
    weights, rows = p.weights or installed_weights(), []
    for run in range(len(problem.tasks[0])):
        network = problem.network
        network.load_state_dict(problem.state(run))
        load_weights(network, weights, classes_differ=True)
        rows.append(packed(network.state_dict()))
    unknown = np.full(len(rows), np.nan)
    return Trained.solved(np.stack(rows), unknown, unknown)
