"""Solvers of wide ReLU networks, on the mean squared error.

They take a `pretrain.Problem` and the parameters `p` of a stage, and return `Trained`.
"""

from dataclasses import replace

import numpy as np

from carryover.theory.kernels import infinite_width_gram, relu_risk
from carryover.training.relu_flow import gradient_flow
from carryover.training.result import Trained


def exact(problem, p):
    """The limit of infinite width, in which training is regression with the tangent kernel, without steps or weights.

    Loss and risk are mean squared errors, the risk over the test inputs, since it has no closed form.
    """
    loss = ((limit(problem, problem.task.X) - problem.task.y) ** 2).mean(1)
    return Trained.from_solution(None, loss, ((limit(problem, problem.tests) - problem.test_values) ** 2).mean(1))


def limit(problem, inputs):
    """f(x) = f0(x) + H(x, X) H⁻¹ (y − f0(X)) of every run, (runs, count): where gradient flow ends.

    f0 is the run's network at its start and H = H^∞ the tangent kernel of infinite width, at inputs (networks, count,
    D) of length 1. Runs from one network have the same samples; their `residuals` are y − f0(X).
    """
    values, network_of_run = np.empty((len(problem.teacher), inputs.shape[1])), problem.task.sets
    for network in np.unique(network_of_run):
        runs, X, x = network_of_run == network, problem.task.X[network], inputs[network]
        change = problem.residuals[runs] @ np.linalg.solve(infinite_width_gram(X), infinite_width_gram(X, x))
        values[runs] = problem.start[network].outputs(x)[:, 0] + change
    return values


def flow(problem, p):
    """Gradient flow of the first layer alone, which descent follows with small steps; the exact risk at the end."""
    trained = gradient_flow(
        [problem.task], problem.start[problem.task.sets], tolerance=p.tolerance,
        accuracy=p.accuracy, max_steps=p.max_steps, device=p.device, trainable=("first",),
    )  # fmt: skip
    # θ·x = relu(θ·x) − relu(−θ·x), and inputs of length 1 have 1/D of the mean square that `relu_risk` is for.
    units = np.stack([problem.teacher, -problem.teacher], axis=1), np.array([1.0, -1.0])
    risks = relu_risk(trained.weights.first, trained.weights.second[:, 0], *units)
    return replace(trained, risk_final=risks / problem.teacher.shape[1])
