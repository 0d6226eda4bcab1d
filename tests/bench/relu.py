"""The ensemble trainer of ReLU networks against the papers' loop: one network, autograd, full batch, loss.item().

Both have one thread, as jobs of the workflow have, and take turns; their time is the processor's.
"""

import time

import numpy as np
import torch

from carryover.networks.relu import Weights
from carryover.training import relu
from carryover.training.devices import chunks
from carryover.training.relu import Task, gradient_descent

D, RATE, SCALE = 15, 0.05, 0.1
SETTINGS = ((200, 32, 15), (200, 256, 5), (1000, 256, 3.5), (1000, 1024, 2))  # width, samples, times faster
ROUNDS, SECONDS = 12, 0.15  # turns of each, and how long one takes


def problem(width, samples, networks):
    """A task with inputs of its own for each network, and the networks."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((networks, samples, D))
    y = np.maximum(X[:, :, :3], 0) @ np.array([1.0, -1.0, 1.0]) / np.sqrt(3)
    first, second = rng.standard_normal((networks, width, D)), rng.standard_normal((networks, 1, width))
    weights = Weights(SCALE * np.sqrt(2 / D) * first, SCALE * np.sqrt(2 / width) * second)
    return Task(X, y, np.arange(networks)), weights


def plain(width, samples, steps):
    """Seconds of that many steps of the loop, and the network."""
    task, weights = problem(width, samples, 1)
    X, y = (torch.tensor(values[0], dtype=torch.float32) for values in (task.X, task.y))
    layers = torch.nn.Linear(D, width, bias=False), torch.nn.Linear(width, 1, bias=False)
    for layer, values in zip(layers, (weights.first, weights.second), strict=True):
        layer.weight.data = torch.tensor(values[0], dtype=torch.float32)
    network = torch.nn.Sequential(layers[0], torch.nn.ReLU(), layers[1])
    optimiser, objective = torch.optim.SGD(network.parameters(), lr=RATE), torch.nn.MSELoss()
    began = time.process_time()
    for _ in range(steps):
        optimiser.zero_grad()
        loss = objective(network(X)[:, 0], y)
        loss.backward()
        optimiser.step()
        loss.item()
    return time.process_time() - began, [layer.weight.detach().numpy() for layer in layers]


def looped(width, samples, steps):
    return plain(width, samples, steps)[0] / steps


def group(width, samples):
    """Networks that the trainer takes at a time."""
    task, _ = problem(width, samples, 1)
    columns = min(relu._COLUMNS["cpu"], samples)
    most = relu.BYTES["cpu"] // (4 * width * (columns + 3 * task.X.shape[2]))
    return len(chunks(np.arange(1000), most)[0])


def ensemble(width, samples, steps):
    """Seconds of a network-step, of at least `steps` in all."""
    networks = group(width, samples)
    task, weights = problem(width, samples, networks)
    settings = {
        "learning_rate": RATE,
        "tolerance": 0,
        "max_epochs": -(-steps // networks),
        "checkpoints": 4,
        "device": "cpu",
    }
    began = time.process_time()
    trained = gradient_descent([task], weights, **settings)
    seconds = time.process_time() - began
    if (trained.evaluations != settings["max_epochs"]).any() or (trained.learning_rate != RATE).any():
        raise AssertionError(f"networks of width {width} did not take {steps} steps of rate {RATE}")
    return seconds / trained.evaluations.sum()


def agree(width, samples, steps=50):
    """Refuse to compare what does not compute the same."""
    task, weights = problem(width, samples, 1)
    trained = gradient_descent([task], weights, learning_rate=RATE, tolerance=0, max_epochs=steps, device="cpu").weights
    for found, expected in zip((trained.first[0], trained.second[0]), plain(width, samples, steps)[1], strict=True):
        difference = np.linalg.norm(found - expected) / np.linalg.norm(expected)
        if difference > 1e-4:
            raise AssertionError(f"the trainer and the loop differ by {difference:.1e} after {steps} steps")


def turns(functions, width, samples, rounds):
    """Seconds of a step of each function, the best of several turns."""
    steps = [enough(function, width, samples) for function in functions]
    times = [[function(width, samples, count) for function, count in zip(functions, steps, strict=True)]
             for _ in range(rounds)]  # fmt: skip
    return [min(column) for column in zip(*times, strict=True)]


def enough(function, width, samples):
    """Steps that take about as long as a turn should."""
    steps = 20
    while (seconds := function(width, samples, steps)) * steps < SECONDS / 2:
        steps = min(4 * steps, max(steps + 1, round(SECONDS / seconds)))
    return steps


def in_words(seconds):
    return f"{seconds * 1e6:.{1 if seconds < 1e-4 else 0}f} µs"


def compare(width, samples, least, rounds=ROUNDS):
    """The row of one size."""
    agree(width, samples)
    loop, trainer = turns((looped, ensemble), width, samples, rounds)
    detail = (
        f"{D} inputs: {in_words(trainer)} a network-step in groups of {group(width, samples)}, against {in_words(loop)}"
    )
    name = f"ReLU networks of width {width}, n = {samples}: network-steps"
    return {"name": name, "ratio": loop / trainer, "at_least": least, "detail": detail}


def measure(smallest=False):
    """Four rows, in about half a minute."""
    for setting in SETTINGS[1:2] if smallest else SETTINGS:
        yield compare(*setting, rounds=1 if smallest else ROUNDS)
