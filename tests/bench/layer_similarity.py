"""Layer × layer CKA against pytorch-cka, where it is installed (`make test` installs it)."""

import numpy as np
import torch
from _plain import best_in_turns, refuse_difference, row

from carryover.diagnosis.layers import layer_similarity


def measure(smallest=False):
    """One row: processor seconds of pytorch-cka over ours, on the same responses, each the best of several."""
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
    found, expected = layer_similarity(*pair, debiased=True).values, cka_from_features(*tensors).numpy()
    difference = refuse_difference(found, expected, 1e-4, "layer_similarity and pytorch-cka")
    ours, theirs = best_in_turns(5, lambda: layer_similarity(*pair, debiased=True), lambda: cka_from_features(*tensors))
    detail = (
        f"{layers} × {layers} layers of {units} units, {samples} samples: {ours:.2f} s against {theirs:.2f} s of "
        f"pytorch-cka; relative difference {difference:.0e}"
    )
    yield row("layer_similarity", theirs / ours, 1, detail)
