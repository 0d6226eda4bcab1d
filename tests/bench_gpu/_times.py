"""How a card and the CPU beside it are timed on the same work."""

import os
import time

import torch

ROUNDS, SECONDS = 5, 5.0


def row(name, prepare, device, unit):
    """A row of `tests/bench/run.py`: the same work on the CPU, at its best number of threads, and on the device.

    `prepare(device)` gives a function that does the work. It returns the number of `unit`s that it did, which may be
    another on another device, and not before their result is in the computer's memory. The bound of 1 says that a card
    is not to be slower; what it could be was not measured.
    """
    card = fastest(prepare(device))
    before, tried = torch.get_num_threads(), {}
    for threads in sorted({1, os.cpu_count()}):
        torch.set_num_threads(threads)
        tried[threads] = fastest(prepare("cpu"))
    torch.set_num_threads(before)
    threads = min(tried, key=tried.get)
    detail = (
        f"{1e6 * card:.1f} µs per {unit} on the GPU, {1e6 * tried[threads]:.1f} µs on the CPU "
        f"({threads} of {os.cpu_count()} threads)"
    )
    return {"name": name, "ratio": tried[threads] / card, "at_least": 1, "detail": detail}


def fastest(work):
    """Seconds a unit in the fastest of some rounds, after one that warms up; slow work has fewer rounds."""
    work()
    found, first = [], time.perf_counter()
    while len(found) < ROUNDS and (not found or time.perf_counter() - first < SECONDS):
        began = time.perf_counter()
        units = work()
        found.append((time.perf_counter() - began) / units)
    return min(found)
