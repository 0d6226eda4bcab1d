"""Solver: gradient descent with momentum on the cross-entropy, runs together or one by one."""

import numpy as np
import torch

from carryover.training.convnet import drops_units, gradient_descent
from carryover.training.device import torch_device
from carryover.training.memory import in_pieces
from carryover.training.result import Trained

PORTABLE = "distribution"  # normalisation over few values and large steps enlarge any rounding


def solve(problem, p, progress=None):
    """`Trained`, with weights (runs, P).

    So many runs are trained together as `p` says, or one where that is impossible (units are dropped at random) or of
    no use (pretraining, also as a second task: batches are large, and runs have different numbers of images). Where a
    GPU's memory is too small for them, half as many. Raises UserError where it is too small for one.
    """
    runs = np.arange(len(problem.tasks[0]))
    one_by_one = len(problem.tasks) > 1 or drops_units(problem.network(0))
    together = 1 if one_by_one else getattr(p, "together", 1)
    pieces = np.split(runs, range(together, len(runs), together))
    parts = in_pieces(lambda some: _descend(problem, some, p, progress), pieces)
    return Trained.joined(parts, np.concatenate([part.weights for part in parts]))


def _descend(problem, runs, p, progress):
    tests = [(task.test, task.test_labels) for task in (problem.tasks[0][run] for run in runs)]
    # Without TensorFloat-32, which keeps 10 bits, "float32" is on a GPU what it is on a CPU.
    with torch.backends.cudnn.flags(enabled=True, allow_tf32=p.precision != "float32"):
        return gradient_descent(
            [problem.network(run) for run in runs], problem.samples(runs), tests, problem.images,
            lambda place, use, number: problem.draws(runs[place], use, number),
            learning_rate=p.learning_rate, decay=getattr(p, "decay", "constant"), momentum=p.momentum,
            weight_decay=p.weight_decay, batch_size=p.batch_size, tolerance=p.tolerance, max_epochs=p.max_epochs,
            renew=getattr(p, "statistics", "kept") == "renewed", precision=p.precision, device=torch_device(p.device),
            saved=problem.saved, name=f"{problem.name}-{runs[0]}-{len(runs)}", progress=progress,
        )  # fmt: skip
