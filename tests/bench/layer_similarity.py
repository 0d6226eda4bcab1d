"""Layer × layer CKA against pytorch-cka, where it is installed (`make test` installs it)."""

import time

import numpy as np

from carryover.diagnosis.layers import layer_similarity

REPEATS = 5


def measure(smallest=False):
    """One row: processor seconds of pytorch-cka over ours, on the same responses, each the best of several."""
    import torch

    try:
        from cka import cka_from_features
    except ImportError:
        return
    samples, units, layers = (100, 20, 2) if smallest else (2000, 256, 8)
    rng = np.random.default_rng(0)
    shared = rng.standard_normal((samples, 20))

    def responses():
        noise = rng.standard_normal((samples, units))
        return (shared @ rng.standard_normal((20, units)) + noise).astype(np.float32)

    pair = [{f"layer{number}": responses() for number in range(layers)} for _ in range(2)]
    tensors = [[torch.from_numpy(values) for values in side.values()] for side in pair]
    seconds = []
    for _ in range(REPEATS):
        began = time.process_time()
        found = layer_similarity(*pair, debiased=True)
        between = time.process_time()
        expected = cka_from_features(*tensors)
        seconds.append((between - began, time.process_time() - between))
    difference = float(np.abs(found.values - expected.numpy()).max())
    if difference > 1e-4:
        raise AssertionError(f"layer_similarity and pytorch-cka differ by {difference:.1e}")
    ours, theirs = np.min(seconds, axis=0)
    detail = (
        f"{layers} × {layers} layers of {units} units, {samples} samples: {ours:.2f} s against {theirs:.2f} s of "
        f"pytorch-cka (best of {REPEATS}); largest difference {difference:.0e}"
    )
    yield {"name": "layer_similarity", "ratio": theirs / ours, "at_least": 1, "detail": detail}
