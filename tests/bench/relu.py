"""The ensemble trainer of ReLU networks against the papers' loop: one network, autograd, full batch, loss.item().

All on two cores. The loop has one or two threads, whichever is faster. The trainer runs as the workflow runs it, two
processes side by side with a thread each, or in one process with two threads, whichever is faster. What is compared
takes turns, so that other work on the machine hits all of it.
"""

import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import torch

from carryover.networks.relu import Weights
from carryover.provenance import store
from carryover.training import relu
from carryover.training.devices import chunks
from carryover.training.relu import Task, gradient_descent

D, RATE, SCALE = 15, 0.05, 0.1
SETTINGS = ((200, 32, 20), (200, 256, 6), (1000, 256, 4.5), (1000, 1024, 2.5))  # width, samples, times faster
ROUNDS, SECONDS = 12, 0.15  # turns of each, and how long one takes
SHARD = {"width": 200, "samples": 256, "seeds": 5, "at_least": 4}  # seeds of each of two shards
SCRIPT = Path(__file__).resolve().parents[2] / "scripts/finetune.py"


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
    began = time.perf_counter()
    for _ in range(steps):
        optimiser.zero_grad()
        loss = objective(network(X)[:, 0], y)
        loss.backward()
        optimiser.step()
        loss.item()
    return time.perf_counter() - began, [layer.weight.detach().numpy() for layer in layers]


def threaded(threads, function):
    """The same as `function` with that many threads."""

    def seconds(*told):
        before = torch.get_num_threads()
        torch.set_num_threads(threads)
        try:
            return function(*told)
        finally:
            torch.set_num_threads(before)

    return seconds


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
    began = time.perf_counter()
    trained = gradient_descent([task], weights, **settings)
    seconds = time.perf_counter() - began
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


def prepare(barrier):
    """What each of the two processes does first."""
    global _barrier
    _barrier = barrier
    torch.set_num_threads(1)


def beside_each_other(function, *told):
    _barrier.wait()
    return function(*told)


def of_both(pool, function):
    """The same as `function`, in both processes at once: seconds by the sum of their rates."""

    def seconds(*told):
        both = [pool.submit(beside_each_other, function, *told) for _ in range(2)]
        return 1 / sum(1 / one.result() for one in both)

    return seconds


def best(functions, width, samples, rounds):
    """Seconds of a step by name, the best of several turns."""
    steps = {name: enough(function, width, samples) for name, function in functions.items()}
    turns = [
        {name: function(width, samples, steps[name]) for name, function in functions.items()} for _ in range(rounds)
    ]
    return {name: min(turn[name] for turn in turns) for name in functions}


def enough(function, width, samples):
    """Steps that take about as long as a turn should."""
    steps = 20
    while (seconds := function(width, samples, steps)) * steps < SECONDS / 2:
        steps = min(4 * steps, max(steps + 1, round(SECONDS / seconds)))
    return steps


def shard(loop_seconds, epochs):
    """The row of whole shards, from the start of Python to the end of two of them, side by side."""
    asked = {name: str(SHARD[name]) for name in ("width", "samples")}
    words = [word for name, value in asked.items() for word in (f"--{name}", value)]
    words += ["--protocol", "single_task", "--initial-scale", str(SCALE), "--max-epochs", str(epochs)]
    words += ["--batch-size", "0", "--tolerance", "1e-30", "--learning-rate", str(RATE), "--device", "cpu"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, f"{name}.nc") for name in ("one", "two")]
        began = time.perf_counter()
        jobs = []
        for number, file in enumerate(files):
            seeds = [str(SHARD["seeds"] * number + seed) for seed in range(SHARD["seeds"])]
            command = [sys.executable, SCRIPT, "relu", "--experiment", "bench", *words]
            command += ["--seeds", *seeds, "--output", file]
            jobs.append(subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True))
        said = [job.communicate()[1] for job in jobs]
        seconds = time.perf_counter() - began
        if any(job.returncode for job in jobs):
            raise AssertionError("".join(said))
        steps = sum(int(store.load(file)["evaluations"].sum()) for file in files)
    detail = (
        f"{steps} network-steps in 2 jobs of {SHARD['seeds']} networks, from the start of Python to the datasets: "
        f"{seconds:.1f} s against {steps * loop_seconds:.0f} s for the loop (extrapolated, without its start)"
    )
    name = f"ReLU networks of width {SHARD['width']}, n = {SHARD['samples']}: time to solution of whole shards"
    return {"name": name, "ratio": steps * loop_seconds / seconds, "at_least": SHARD["at_least"], "detail": detail}


def compare(pool, width, samples, least, rounds):
    """The row of one size, and seconds of a step of the loop."""
    agree(width, samples)
    functions = {
        "loop": threaded(1, looped),
        "loop of two": threaded(2, looped),
        "processes": of_both(pool, ensemble),
        "threads": threaded(2, ensemble),
    }
    found = best(functions, width, samples, rounds)
    said = {name: f"{seconds * 1e6:.{1 if seconds < 1e-4 else 0}f} µs" for name, seconds in found.items()}
    loop, trainer = min(found["loop"], found["loop of two"]), min(found["processes"], found["threads"])
    name = f"ReLU networks of width {width}, n = {samples}"
    detail = (
        f"{D} inputs, 2 cores: {said['processes']} a network-step in groups of {group(width, samples)} in 2 processes, "
        f"{said['threads']} in one with 2 threads, against {said['loop']} (1 thread), {said['loop of two']} (2 threads)"
    )
    return {"name": f"{name}: network-steps", "ratio": loop / trainer, "at_least": least, "detail": detail}, loop


def measure(smallest=False):
    """Five rows, in about a minute and a half."""
    context = get_context("spawn")
    settings, rounds, epochs = (SETTINGS[1:2], 1, 100) if smallest else (SETTINGS, ROUNDS, 40_000)
    loops = {}
    with ProcessPoolExecutor(2, context, prepare, (context.Barrier(2),)) as pool:
        for width, samples, least in settings:
            row, loops[width, samples] = compare(pool, width, samples, least, rounds)
            yield row
    yield shard(loops[SHARD["width"], SHARD["samples"]], epochs)
