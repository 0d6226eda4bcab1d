"""Published runs replayed from their seeds, in runs a minute, against the released code's way: one network at a time by
autograd, seen on 10,000 test inputs after every fiftieth epoch."""

from dataclasses import replace

import numpy as np
import torch
from _plain import refuse_difference, relu_network, row, sgd, timed

from carryover.families.published import finetune, protocols, solvers
from carryover.families.published.parameters import Finetune
from carryover.families.stages import Shard
from carryover.training.published import SEEN_EVERY

EPOCHS, LOOP_EPOCHS = 2000, 200
SETTINGS = (("relu_nested", 16, 3), ("relu_nested", 128, 2), ("diagonal_nested", 64, 3))  # samples, times faster


def diagonal_network(problem):
    """The first diagonal network of a problem as PyTorch's: (its parameters, its loss, its test error)."""
    start, (task,), test = problem.start[0], problem.tasks, problem.test
    weights = [torch.tensor(w, requires_grad=True) for w in (*start.second_plus, start.first_plus, *start.second_minus,
                                                             start.first_minus)]  # fmt: skip
    error = lambda X, y: torch.nn.functional.mse_loss(X @ (weights[0] * weights[1] - weights[2] * weights[3]), y)  # noqa: E731
    X, y, Z, z = (torch.tensor(values[0]) for values in (task.X, task.y, test.X, test.y))
    return weights, lambda: error(X, y), lambda: error(Z, z)


def network(problem):
    """The same of a network of either kind."""
    if not hasattr(problem.start, "first"):
        return diagonal_network(problem)
    parameters, loss = relu_network(problem.tasks, problem.start)
    Z, z = (torch.tensor(values[0]) for values in (problem.test.X, problem.test.y))
    return parameters, loss, lambda: (torch.relu(Z @ parameters[0].T) @ parameters[1][0] - z).square().mean()


def loop(problem, epochs):
    """Seconds of so many epochs of one network, and its last test risk."""
    (parameters, loss, test), seconds = network(problem), 0.0
    for _ in range(epochs // SEEN_EVERY):
        seconds += sgd(parameters, loss, problem.rules.rate, SEEN_EVERY)
        with torch.no_grad():
            more, risk = timed(lambda: test().item())
        seconds += more
    return seconds, risk


def compare(experiment, samples, least, epochs):
    """The row of all tasks of seed 0 of an experiment, from scratch."""
    p = Finetune(protocol="single_task", published=(experiment,), samples=(samples,))
    listed = protocols.select(published=experiment, protocol=p.protocol, samples=samples, seed=0)
    problem = finetune.make_batch(p, Shard("replay", [0]), listed, [False] * len(listed)).problem
    problem = replace(problem, rules=replace(problem.rules, tolerance=0.0))

    def replayed(most):
        return solvers.descent(replace(problem, last=np.full(len(listed), most)), p)

    plain, risk = loop(problem, LOOP_EPOCHS)
    refuse_difference(replayed(LOOP_EPOCHS).risk_final[0], risk, 1e-3, "the replay and the loop")
    ours = timed(replayed, epochs)[0] / epochs / len(listed)
    plain = plain / LOOP_EPOCHS
    rates = [f"{60 / (seconds * 1e4):.3g}" for seconds in (ours, plain)]
    detail = f"{len(listed)} runs together: {rates[0]} runs of 10,000 epochs a minute, against {rates[1]}"
    return row(f"published runs of {experiment}, n = {samples}: replayed runs a minute", plain / ours, least, detail)


def measure(smallest=False):
    """Three rows, in about half a minute."""
    for setting in SETTINGS[:1] if smallest else SETTINGS:
        yield compare(*setting, epochs=LOOP_EPOCHS if smallest else EPOCHS)
