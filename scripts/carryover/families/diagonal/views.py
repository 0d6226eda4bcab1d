"""What runs have before they are trained: see `families.forecasts`."""

import numpy as np

from carryover.families.forecasts import Start, View


def views(problem, p):
    """Features are w ⊙ x of both paths. A small readout, as finetuning starts from, leaves the gradients their kernel,
    Σ_d (w₊² + w₋²)_d x_d x'_d; networks from scratch have all features alike."""
    (task, *_), start = problem.tasks, problem.start
    power = start.first_plus.astype(float) ** 2 + start.first_minus.astype(float) ** 2
    for inputs, targets, own in zip(task.X[task.sets], task.y, power, strict=True):
        features = inputs * np.sqrt(own)
        finetuning, scratch = Start([features @ features.T]), Start([inputs @ inputs.T])
        yield View(features, [inputs], targets, finetuning, [scratch])
