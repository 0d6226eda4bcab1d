"""The papers' loop over one network, by autograd with the full batch and `loss.item()`, and how it is timed.

Seconds are the processor's, so that other work on the machine counts little; all that is compared has one thread.
"""

import time

import numpy as np
import torch


def sgd(parameters, loss, rate, steps):
    """Seconds of so many steps of the loop; `loss` is a function of nothing."""
    optimiser = torch.optim.SGD(parameters, lr=rate)
    began = time.process_time()
    for _ in range(steps):
        optimiser.zero_grad()
        value = loss()
        value.backward()
        optimiser.step()
        value.item()
    return time.process_time() - began


def relu_network(tasks, weights):
    """The first of some ReLU networks, as PyTorch's: (its parameters, its loss on the tasks)."""
    data = [(torch.tensor(one.X[0]).float(), torch.tensor(one.y[0]).float()) for one in tasks]
    arrays = [torch.tensor(values[0], dtype=torch.float32) for values in (weights.first, weights.second)]
    layers = [torch.nn.Linear(*reversed(values.shape), bias=False) for values in arrays]
    for layer, values in zip(layers, arrays, strict=True):
        layer.weight.data = values
    network, objective = torch.nn.Sequential(layers[0], torch.nn.ReLU(), layers[1]), torch.nn.MSELoss()
    return [*network.parameters()], lambda: sum(objective(network(X)[:, o], y) for o, (X, y) in enumerate(data))


def timed(function, *arguments):
    """(seconds of the processor, what the function returned)."""
    began = time.process_time()
    found = function(*arguments)
    return time.process_time() - began, found


def best_in_turns(rounds, *functions):
    """Fewest seconds of each function over some rounds, in which they take turns."""
    return np.min([[timed(function)[0] for function in functions] for _ in range(rounds)], axis=0)


def refuse_difference(found, expected, most, what):
    """Refuse to compare what does not compute the same."""
    found, expected = np.asarray(found), np.asarray(expected)
    difference = np.linalg.norm(found - expected) / np.linalg.norm(expected)
    if not difference <= most:
        raise AssertionError(f"{what} differ by {difference:.1e}")
    return difference


def row(name, ratio, at_least, detail):
    """A row of `run.py`: how many times faster than the loop, its bound, and between what."""
    return {"name": name, "ratio": ratio, "at_least": at_least, "detail": detail}
