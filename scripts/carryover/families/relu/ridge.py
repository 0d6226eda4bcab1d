"""Solver: ridge regression on the features of the start: of the readout (probe) or of all weights (tangent kernel)."""

import numpy as np

from carryover.networks.relu import Weights
from carryover.training.kernel_ridge import fit
from carryover.training.result import Trained


def solve(problem, p, progress=None):
    """`Trained` without training, its ridge strength cross-validated run by run.

    A probe's network is the fitted one. The function fitted by a tangent kernel is no network: its weights stay those
    of the start, and its risk and loss are the fitted function's.
    """
    kind = "probe" if p.protocol.endswith("_probe") else "tangent"
    start, fitted = problem.start, []
    for run, row in enumerate(problem.sets):
        inputs, targets = problem.X[0][row], problem.y[0][run]
        fitted.append(fit(kind, start.first[run], start.second[run, 0], inputs, targets))
        if progress is not None:
            progress({"step": run + 1, "active": len(problem.sets) - run - 1})
    readouts = np.stack([one.readout for one in fitted])[:, None]
    risks = [one.risk(*problem.teacher.units(run)) for run, one in enumerate(fitted)]
    return Trained.solved(
        Weights(start.first, readouts if kind == "probe" else start.second),
        np.array([one.loss for one in fitted]),
        np.array(risks),
        ridge_strength=np.array([one.strength for one in fitted]),
    )
