"""What runs have before they are trained: see `families.forecasts`."""

import numpy as np

from carryover.families.forecasts import Start, View


def views(problem, p):
    """Of networks of rank one with the function β·x: the only feature is β·x/|β|, and the gradients' kernel is, up to a
    factor, x·x' + (L − 1) (β·x) (β·x')/|β|². The readout is kept, so that finetuning starts from β·x; from scratch
    networks start from 0, without any feature but the inputs."""
    task = problem.task
    for inputs, targets, beta in zip(task.X[task.sets], task.y, problem.coefficients, strict=True):
        feature = inputs @ beta[:, None] / np.linalg.norm(beta)
        kernel = inputs @ inputs.T
        finetuning = Start([kernel + (problem.depth - 1) * feature @ feature.T], inputs @ beta)
        yield View(feature, [inputs], targets, finetuning, [Start([kernel])])
