"""A diagnosis of files of wide layers against three float32 Gram products of each layer, which it cannot do without.

What it finds of the first layer must be what is found in double precision.
"""

import resource
import tempfile
import time
import zipfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from carryover.diagnosis.diagnosis import diagnose
from carryover.measures.dimensionality import cka, ensd, participation_ratio

LAYERS, SAMPLES, UNITS = 2, 10_000, 4096
AT_LEAST = 0.3  # of the time are the products
MEMORY = 4  # GiB, of the whole process
ROUNDING = 1e-5  # largest relative difference from double precision


def write(folder, layers, samples, units):
    """before.npz and after.npz, one layer in memory at a time."""
    rng = np.random.default_rng(0)
    paths = [Path(folder, f"{name}.npz") for name in ("before", "after")]
    with zipfile.ZipFile(paths[0], "w") as before, zipfile.ZipFile(paths[1], "w") as after:
        for layer in range(layers):
            responses = rng.standard_normal((samples, units), dtype=np.float32)
            for archive in (before, after):
                with archive.open(f"layer{layer}.npy", "w", force_zip64=True) as stream:
                    np.lib.format.write_array(stream, responses)
                responses[:, ::2] = 0.5
    return paths


def floor(layers, samples, units):
    """Seconds of the products alone, at the rate at which this machine multiplies some of the samples."""
    rows = min(samples, 2048)
    X, Y = np.random.default_rng(0).standard_normal((2, rows, units), dtype=np.float32)
    began = time.process_time()
    np.matmul(X.T, Y)
    return 3 * layers * (time.process_time() - began) * samples / rows


def compare(layers, samples, units):
    """Seconds of processor time of the products before and after the diagnosis, seconds of it, its memory in GiB."""
    with tempfile.TemporaryDirectory() as folder:
        paths = write(folder, layers, samples, units)
        products = floor(layers, samples, units)
        began, wall = time.process_time(), time.perf_counter()
        found = diagnose(*paths)
        taken, wall = time.process_time() - began, time.perf_counter() - wall
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        products = (products + floor(layers, samples, units)) / 2
        check(found.isel(layer=0), *(np.load(path)["layer0"] for path in paths))
        return products, taken, wall, peak


def check(found, before, after):
    """AssertionError unless a layer's PR, ENSD and CKA are those of its responses (samples, units)."""
    expected = {
        "participation_ratio_before": participation_ratio(before),
        "participation_ratio_after": participation_ratio(after),
        "ensd": ensd(before, after),
        "cka": cka(before, after),
    }
    for name, value in expected.items():
        np.testing.assert_allclose(found[name].item(), value, rtol=ROUNDING, err_msg=name)


def measure(smallest=False):
    """One row, from a process of its own."""
    layers, samples, units = (1, 2000, 200) if smallest else (LAYERS, SAMPLES, UNITS)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        products, taken, wall, peak = pool.submit(compare, layers, samples, units).result()
    if peak > MEMORY:
        raise AssertionError(f"a diagnosis took {peak:.1f} GiB, not {MEMORY}")
    rate = 6 * layers * samples * units**2 / products / 1e9
    detail = (
        f"{layers} layers of {samples} samples × {units} units: {taken:.1f} s of CPU time on one thread ({wall:.0f} s "
        f"in all), against {products:.1f} s of products at {rate:.0f} GFLOP/s, {taken / products:.2f} times as long; "
        f"{peak:.1f} GiB at most"
    )
    name = "diagnosis of a network's layers"
    yield {"name": name, "ratio": products / taken, "at_least": AT_LEAST, "detail": detail}
