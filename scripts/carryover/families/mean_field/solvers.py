"""Solvers of mean-field ReLU networks; losses are half the mean squared error, and risks are exact."""

from dataclasses import replace

import numpy as np

from carryover.families.mean_field import readouts
from carryover.families.mean_field.pretrain import averaged, summed
from carryover.families.mean_field.readouts import Quadratic
from carryover.networks.relu import Weights
from carryover.theory.kernels import relu_risk
from carryover.training.devices import tensor
from carryover.training.population_flow import population_flow
from carryover.training.readout_flow import Modes
from carryover.training.relu_flow import gradient_flow
from carryover.training.result import Task, Trained

PORTABLE = {"flow": "distribution"}  # units that start small choose their place early


def flow(problem, p, progress=None):
    """Gradient flow, which plain descent follows with small steps, input weights on the sphere.

    It is on the population loss where the problem has no samples. Times and losses are those of descent. The trainers
    take sums over units. On samples their loss is the mean squared error, twice the loss of mean-field networks, so
    their time runs half as fast.
    """
    start, teacher = summed(problem.start[problem.networks]), problem.teacher
    settings = {"accuracy": p.accuracy, "max_steps": p.max_steps, "device": p.device, "progress": progress}
    if problem.X is None:
        unit_teacher = Weights(teacher.first, teacher.second / teacher.first.shape[-2])
        trained = population_flow(
            unit_teacher, start, tolerance=p.tolerance, max_time=p.max_time, anchor=problem.anchor,
            precision=p.precision, **settings,
        )  # fmt: skip
        return replace(trained, weights=averaged(trained.weights))
    teacher = summed(teacher)

    def risk(first, second, runs):
        which = problem.networks[runs]
        units = teacher.first[which], teacher.second[which, 0]
        return relu_risk(first, second[:, 0], *(tensor(values, first.device) for values in units))

    trained = gradient_flow(
        [Task(problem.X, problem.y[problem.sets], problem.sets)], start, tolerance=2 * p.tolerance, on_sphere=True,
        observe={"risk": risk}, **settings,
    )  # fmt: skip
    curves = {**trained.curves, "loss": trained.curves["loss"] / 2}
    weights = averaged(trained.weights)
    return replace(trained, weights=weights, loss=trained.loss / 2, time=2 * trained.time, curves=curves)


def exact(problem, p, progress=None):
    """What a readout on features that stay learns, in closed form, or the network as it is: no steps.

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
    network, teacher = summed(problem.start), summed(problem.teacher)
    risks = relu_risk(network.first, network.second[:, 0], teacher.first, teacher.second[:, 0])
    return Trained.solved(problem.start, np.full(len(problem.networks), np.nan), risks)


def _on_population(problem, p, progress):
    second, found = np.empty_like(problem.start.second), []
    for index, (network, teacher) in enumerate(readouts.pairs(problem, progress)):
        whole, begin = Quadratic.of(network, teacher), network.second[0]
        modes = Modes.of_population(whole.kernel, whole.overlaps, whole.power, speed=len(begin))
        time = modes.stop(begin, problem.max_time[index], p.tolerance)
        second[index, 0] = modes.after(begin, time)
        loss = modes.loss(second[index, 0])
        found.append((loss, 2 * loss, time))
    return _trained(Weights(problem.start.first, second), p, *np.array(found).T)


def _on_samples(problem, p, progress):
    """The decomposition of a network's features of one data set serves all of its readouts."""
    loss, risk, time = np.full((3, len(problem.networks)), np.nan)
    for case in readouts.cases(problem, progress):
        width = case.features.shape[1]
        modes = Modes.of_samples(case.features / width, case.y, speed=width)
        for run, start in zip(case.runs, case.starts, strict=True):
            if problem.readout[run] == "least_squares":
                readout = modes.least_squares(p.cutoff)
            else:
                time[run] = modes.stop(start, problem.max_time[run], p.tolerance)
                readout = modes.after(start, time[run])
            loss[run], risk[run] = modes.loss(readout), case.risk(readout)
    return _trained(None, p, loss, risk, time)


def _trained(weights, p, loss, risk, time):
    """What was solved at a time; least squares has none (NaN) and is done."""
    done = np.isnan(time) | (loss <= p.tolerance * (1 + 1e-9))  # at the tolerance it stopped, to rounding
    return Trained.solved(weights, loss, risk, time, converged=done)


def descent(problem, p, progress=None):
    """Gradient descent of the readout alone, for linear_transfer, at a rate of `learning_rate` · width.

    Readouts themselves are not stored.
    """
    loss, risk, rates = np.full((3, len(problem.networks)), np.nan)
    taken = np.zeros(len(loss), dtype=np.int64)
    for case in readouts.cases(problem, progress):
        for time in np.unique(problem.max_time[case.runs]):
            same = problem.max_time[case.runs] == time
            runs = case.runs[same]
            found, taken[runs], rates[runs] = readouts.descended(
                case.features, case.y, case.starts[same], p.learning_rate, time, p.max_steps, p.tolerance
            )
            loss[runs] = ((found @ case.features.T / found.shape[1] - case.y) ** 2).mean(1) / 2
            risk[runs] = [case.risk(readout) for readout in found]
    return Trained.solved(
        None, loss, risk, taken * rates, evaluations=taken, converged=loss <= p.tolerance, learning_rate=rates
    )
