"""What runs have before they are trained: see `families.forecasts`."""

import numpy as np

from carryover.families.forecasts import Start, View


def views(problem, p):
    """Yield the `View` of each run, before it is trained.

    The pretrained network f(x) = β·x of L layers has rank one. Its only feature is β·x/|β|, and the tangent kernel is,
    up to a factor, x·x' + (L − 1) (β·x) (β·x')/|β|². Finetuning keeps the readout, so its outputs start from β·x.
    Training from scratch starts from outputs 0 and the inputs as features.
    """
    task = problem.task
    for inputs, targets, beta in zip(task.X[task.sets], task.y, problem.coefficients, strict=True):
        feature = inputs @ beta[:, None] / np.linalg.norm(beta)
        kernel = inputs @ inputs.T
        finetuning = Start([kernel + (problem.depth - 1) * feature @ feature.T], inputs @ beta)
        yield View(feature, [inputs], targets, finetuning, [Start([kernel])])
