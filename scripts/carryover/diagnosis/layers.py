"""How alike each layer of one network is to each layer of another, from their responses to the same samples.

    from carryover import layer_similarity
    matrix = layer_similarity("before.nc", "after.nc")          # (layer_before, layer_after)

Linear centred kernel alignment (CKA): for centred X and Y, ⟨K, L⟩ / √(⟨K, K⟩⟨L, L⟩) with K = XXᵀ and L = YYᵀ, where
⟨K, L⟩ = Σ K_ij L_ij = ‖XᵀY‖². With fewer samples than units it is too large: of unrelated layers it tends to 1. The
debiased one has in place of ⟨K, L⟩ the unbiased estimate of L. Song et al., "Feature selection via dependence
maximization" (2012), equation 4, which for centred kernels with diagonals a and b is a multiple of

    ⟨K, L⟩ − n/(n−2) a·b + Σa Σb / ((n−1)(n−2)).

Being unbiased it may be averaged over small batches of samples (T. Nguyen, M. Raghu and S. Kornblith, "Do wide and deep
networks learn the same things?", 2021, equation 3), which takes less time and memory, and is less precise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from carryover.diagnosis.activations.sources import Activations, opened, same_order
from carryover.errors import UserError

_COLUMNS = 2**13  # products that are summed in single precision


def layer_similarity(
    before: Mapping[str, Any] | str | Path,
    after: Mapping[str, Any] | str | Path,
    layers: Sequence[str] | str | None = None,
    other_layers: Sequence[str] | str | None = None,
    *,
    debiased: bool = False,
    batch: int | None = None,
) -> xr.DataArray:
    """Linear CKA of each layer before with each layer after, (layer_before, layer_after).

    Memory: layers × samples² (of a batch) × 4 bytes, and the responses.

    Args:
        before, after: what `diagnose` takes: mappings {layer: (samples, …)} or files, of the same samples in the same
            order. Layers may have different units, and the networks different layers.
        layers: those of `before`, all by default.
        other_layers: those of `after`; `layers` by default.
        debiased: estimate CKA without the bias of few samples. It may be negative, and NaN where noise is all there is.
        batch: average the debiased estimate over batches of so many samples; a smaller rest is left out.

    Raises:
        UserError: a ValueError, in one sentence, for files that cannot be read, samples that differ in number or
            order, fewer than four samples if debiased, layers that a side lacks, that are not finite or do not vary.
    """
    with opened(before, "before") as old, opened(after, "after") as new:
        same_order(old, new)
        names = _named(old, layers), _named(new, layers if other_layers is None else other_layers)
        every = [side.matrix(name) for side, some in zip((old, new), names, strict=True) for name in some]
    counts = [len(X) for X in every]
    if len(set(counts)) > 1:
        raise UserError(f"before and after must have the same samples, got {counts[0]} and {min(counts[1:])} of them")
    samples, debiased = counts[0], debiased or batch is not None
    size = samples if batch is None else min(batch, samples)
    if debiased and size < 4:
        batches = "" if batch is None else f" in batches of {batch}"
        raise UserError(f"a debiased similarity needs 4 samples or more, got {samples}{batches}")
    starts = range(0, samples - size + 1, size)
    inner = np.sum([_inner_products([X[at : at + size] for X in every], debiased) for at in starts], axis=0)
    own = np.sqrt(np.where(np.diag(inner) > 0, np.diag(inner), np.nan))
    split = len(names[0])
    alike = inner[:split, split:] / np.outer(own[:split], own[split:])
    attributes = {"long_name": f"{'debiased ' * debiased}linear CKA", "units": "1", "samples": samples}
    coords = dict(zip(("layer_before", "layer_after"), names, strict=True))
    return xr.DataArray(alike, coords, tuple(coords), "cka", attributes)


def _inner_products(layers: Sequence[np.ndarray], debiased: bool) -> np.ndarray:
    """⟨K, L⟩ of all pairs of layers (samples, units), or what replaces it."""
    n = len(layers[0])
    kernels = np.empty((len(layers), n * n), np.float32)
    for kernel, X in zip(kernels, layers, strict=True):
        x = X - X.mean(axis=0)
        np.matmul(x, x.T, out=kernel.reshape(n, n))
    inner = np.zeros((len(layers), len(layers)))
    for start in range(0, n * n, _COLUMNS):
        some = kernels[:, start : start + _COLUMNS]
        inner += some @ some.T
    if debiased:
        diagonals = kernels[:, :: n + 1].astype(np.float64)
        total = diagonals.sum(axis=1)
        inner += np.outer(total, total) / ((n - 1) * (n - 2)) - n / (n - 2) * diagonals @ diagonals.T
    return inner


def _named(side: Activations, layers: Sequence[str] | str | None) -> list[str]:
    names = list(side.layers) if layers is None else [layers] if isinstance(layers, str) else list(layers)
    if missing := [name for name in names if name not in side.layers]:
        raise UserError(f"{side.name} lacks the layer {missing[0]}; it has {', '.join(side.layers)}")
    if not names:
        raise UserError(f"at least one layer of {side.name} must be named")
    return names
