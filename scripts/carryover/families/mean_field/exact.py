"""Solver without steps: what a readout on features that stay learns, in closed form, or the network as it is."""

import numpy as np

from carryover.families.mean_field import readouts, task
from carryover.families.mean_field.readouts import Modes, Quadratic
from carryover.networks.relu import Weights
from carryover.theory.kernels import relu_risk
from carryover.training.result import Trained


def solve(problem, p, progress=None):
    """`Trained` without steps: input weights stay, and what the readout does is known.

    Pretraining is that with an infinite anchor: the readout follows the gradient flow on the population loss of the
    source. linear_transfer learns a readout from samples, as the problem's `readout` says of each run: by the gradient
    flow from 0 or from the pretrained readout, both of which stop where the loss reaches the `tolerance`, at
    `max_time` at the latest, or by `least_squares` of least norm without the directions whose singular values are
    below `cutoff` times the largest. The flow leaves them out as well: it is too short for them. Trained features have
    many, as training leaves groups of nearly parallel units, and what tells these apart would be fitted to what the
    features cannot represent, at a risk up to thousands of times the target's power where n is near the number of such
    directions. Readouts fitted to samples are not stored.
    """
    if problem.max_time is not None:
        return (_on_population if problem.X is None else _on_samples)(problem, p, progress)
    network, teacher = task.summed(problem.start), task.summed(problem.teacher)
    risks = relu_risk(network.first, network.second[:, 0], teacher.first, teacher.second[:, 0])
    return Trained.solved(problem.start, np.full(len(problem.networks), np.nan), risks)


def _on_population(problem, p, progress):
    second, found = np.empty_like(problem.start.second), []
    for index, (network, teacher) in enumerate(readouts.pairs(problem, progress)):
        modes = Modes.of_population(Quadratic.of(network, teacher))
        second[index, 0], time = modes.flow(network.second[0], problem.max_time[index], p.tolerance)
        loss = modes.loss(second[index, 0])
        found.append((loss, 2 * loss, time))
    return _trained(Weights(problem.start.first, second), p, *np.array(found).T)


def _on_samples(problem, p, progress):
    """The decomposition of a network's features of one data set serves all of its readouts."""
    loss, risk, time = np.full((3, len(problem.networks)), np.nan)
    for case in readouts.cases(problem, progress):
        modes = Modes.of_samples(case.features, case.y)
        for run, start in zip(case.runs, case.starts, strict=True):
            if problem.readout[run] == "least_squares":
                readout = modes.least_squares(p.cutoff)
            else:
                readout, time[run] = modes.flow(start, problem.max_time[run], p.tolerance)
            loss[run], risk[run] = modes.loss(readout), case.risk(readout)
    return _trained(None, p, loss, risk, time)


def _trained(weights, p, loss, risk, time):
    """What was solved at a time; least squares has none (NaN) and is done."""
    done = np.isnan(time) | (loss <= p.tolerance * (1 + 1e-9))  # at the tolerance it stopped, to rounding
    return Trained.solved(weights, loss, risk, time, converged=done)
