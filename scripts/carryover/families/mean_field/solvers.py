"""Solvers of mean-field ReLU networks; losses are half the mean squared error, and risks are exact.

They take a `pretrain.Problem` and the parameters `p` of a stage, and return `Trained`.
"""

from bisect import bisect_left
from dataclasses import replace
from functools import partial

import numpy as np

from carryover.families.mean_field.pretrain import as_sum
from carryover.networks.relu import Weights
from carryover.theory.kernels import function_moments, relu_kernel, relu_risk
from carryover.training.devices import tensor
from carryover.training.integrate import report
from carryover.training.population_flow import population_flow
from carryover.training.readout_flow import Modes
from carryover.training.relu_flow import gradient_flow
from carryover.training.result import Trained

CUT = 4  # factor by which a learning rate is divided
PORTABLE = {"flow": "distribution"}  # units that start small choose their place early


def flow(problem, p):
    """Gradient flow, which plain descent follows with small steps, input weights on the sphere.

    If the problem has no samples, the loss is the population loss. Times and losses are those of descent. The trainers
    take sums over units. On samples their loss is the mean squared error, twice the loss of mean-field networks, so
    their time runs half as fast.
    """
    start, teacher = as_sum(problem.start[problem.networks]), problem.teacher
    settings = {"accuracy": p.accuracy, "max_steps": p.max_steps, "device": p.device, "longer": problem.longer}
    if problem.task is None:
        unit_teacher = Weights(teacher.first, teacher.second / teacher.first.shape[-2])
        trained = population_flow(
            unit_teacher, start, tolerance=p.tolerance, max_time=problem.max_time, anchor=problem.anchor,
            precision=p.precision, **settings,
        )  # fmt: skip
    else:
        teacher = as_sum(teacher)

        def risk(first, second, runs):
            which = problem.networks[runs]
            units = teacher.first[which], teacher.second[which, 0]
            return relu_risk(first, second[:, 0], *(tensor(values, first.device) for values in units))

        trained = gradient_flow(
            [problem.task],
            start,
            tolerance=2 * p.tolerance,
            max_time=np.nan_to_num(problem.max_time, nan=np.inf) / 2,
            on_sphere=True,
            observe={"risk": risk},
            **settings,
        )
        curves = {**trained.curves, "loss": trained.curves["loss"] / 2}
        trained = replace(trained, loss=trained.loss / 2, time=2 * trained.time, curves=curves)
    root = np.sqrt(start.first.shape[-2])
    return replace(trained, weights=Weights(trained.weights.first * root, trained.weights.second * root))


def exact(problem, p):
    """The result of training a readout on fixed features, in closed form, or the network unchanged: no steps.

    In pretraining the anchor is infinite: the readout follows the gradient flow on the population loss of the source.
    linear_transfer learns a readout from samples, in the way that the problem's `readout` names for each run: by the
    gradient flow from 0 or from the pretrained readout, which stops where the loss reaches the `tolerance`, at
    `max_time` at the latest, or by `least_squares` of least norm without the directions whose singular values are
    below `cutoff` times the largest. The flow is too short to learn these. Trained features have many such directions,
    because training leaves groups of nearly parallel units. Their differences would be fitted to what the features
    cannot represent, at a risk up to thousands of times the target's power where n is near the number of such
    directions. Readouts fitted to samples are not stored.
    """
    if getattr(p, "protocol", "") == "pretrained":
        network, teacher = as_sum(problem.start), as_sum(problem.teacher)
        risks = relu_risk(network.first, network.second[:, 0], teacher.first, teacher.second[:, 0])
        return Trained.from_solution(problem.start, np.full(len(problem.networks), np.nan), risks)
    loss, risk, time = np.empty((3, len(problem.networks)))
    weights = Weights(problem.start.first, np.empty_like(problem.start.second)) if problem.task is None else None
    for run, modes, start, error in _learning(problem):
        if weights is None and problem.readout[run] == "least_squares":
            readout, time[run] = modes.least_squares(p.cutoff), np.nan
        else:
            time[run] = modes.stop(start, problem.max_time[run], p.tolerance)
            readout = modes.after(start, time[run])
        loss[run] = modes.loss(readout)
        if weights is None:
            risk[run] = _risk(readout, *error)
        else:
            weights.second[run, 0], risk[run] = readout, 2 * loss[run]
    converged = np.isnan(time) | (loss <= p.tolerance * (1 + 1e-9))  # the flow stops at the tolerance, to rounding
    return Trained.from_solution(weights, loss, risk, time, converged=converged)


def descent(problem, p):
    """Gradient descent of the readout alone, for linear_transfer, at a rate of `learning_rate` · width, which is cut
    where it would diverge.

    It is linear, so the result of its steps is computed in closed form. Readouts themselves are not stored.
    """
    (loss, risk, rates), steps = np.empty((3, len(problem.networks))), np.empty(len(problem.networks), dtype=np.int64)
    for run, modes, start, error in _learning(problem):
        rate = p.learning_rate  # below 2 over the largest eigenvalue of the loss, the first (there may be none)
        while rate * modes.rates[:1].sum() >= 2:
            rate /= CUT
        after, most = partial(modes.descend, start, rate), min(p.max_steps, round(problem.max_time[run] / rate))
        rates[run] = rate
        # The loss falls in every step, so the first step below the tolerance is found by bisection.
        steps[run] = bisect_left(range(most), True, key=lambda count: modes.loss(after(count)) <= p.tolerance)
        loss[run], risk[run] = modes.loss(after(steps[run])), _risk(after(steps[run]), *error)
    known = {"evaluations": steps, "converged": loss <= p.tolerance, "measured": {"learning_rate": rates}}
    return Trained.from_solution(None, loss, risk, steps * rates, **known)


def _learning(problem):
    """Yield for each run: its index, the `Modes` of its readout's training, its initial readout (m,), and the
    `quadratic` of its population error.

    Runs of one network and data set share the features and targets, so that they are decomposed once. A problem without
    `task` is trained on the population loss, with one run for each network.
    """
    task, count = problem.task, len(problem.start.first)
    for index in range(count):
        report(step=index, active=count - index)
        network = problem.start[index]
        readout, error = network.second[0], quadratic(network, problem.teacher[index])
        if task is None:
            modes = Modes.of_population(*error, speed=len(readout))  # type: ignore[misc]
            yield index, modes, readout, error
            continue
        of_network = problem.networks == index
        for which in np.unique(task.sets[of_network]):
            runs = np.flatnonzero(of_network & (task.sets == which))
            features = network.responses(task.X[which]) / len(readout)
            modes = Modes.of_samples(features, task.y[runs[0]], speed=len(readout))
            for run in runs:
                start = readout if problem.readout[run] == "pretrained" else np.zeros(len(readout))
                yield run, modes, start, error


def quadratic(network, teacher):
    """(K (m, m), b (m,), c) of the mean squared error aᵀKa − 2aᵀb + c of a readout a of a network, over x ~ N(0, I).

    K = E φφᵀ/m² for the hidden responses φ (m,) of the network, with input weights (m, d). b = E φ f*/m and c = E f*²
    for the teacher f*, with input weights (m*, d) and readout (1, m*). Network and teacher are means over their units.
    """
    m, m_star, c_star = len(network.first), len(teacher.first), teacher.second[0]
    kernel = relu_kernel(network.first, network.first) / m**2
    overlaps = relu_kernel(network.first, teacher.first) @ c_star / (m * m_star)
    return kernel, overlaps, float(function_moments(c_star, teacher.first)[0])


def _risk(readout, kernel, overlaps, power):
    """The mean squared error of a readout (m,), see `quadratic`."""
    return max(0.0, readout @ kernel @ readout - 2 * readout @ overlaps + power)
