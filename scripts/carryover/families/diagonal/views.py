"""What runs have before they are trained: see `families.forecasts`."""

import numpy as np

from carryover.families.forecasts import Start, View


def views(problem, p):
    """Yield the `View` of each run, before it is trained.

    Finetuning starts with a small readout. There the tangent kernel is Σ_d (w₊² + w₋²)_d x_d x'_d for the first layer's
    weights w₊ and w₋ of both paths: the kernel of the features √(w₊² + w₋²) ⊙ x. From scratch all weights are equal, so
    that, up to a factor, the features are the inputs x.
    """
    (task, *_), start = problem.tasks, problem.start
    power = start.first_plus.astype(float) ** 2 + start.first_minus.astype(float) ** 2
    for inputs, targets, squares in zip(task.X[task.sets], task.y, power, strict=True):
        features = inputs * np.sqrt(squares)
        finetuning, scratch = Start([features @ features.T]), Start([inputs @ inputs.T])
        yield View(features, [inputs], targets, finetuning, [scratch])
