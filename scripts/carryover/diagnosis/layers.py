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

The Procrustes distance is the angle arccos(‖XᵀY‖_* / (‖X‖ ‖Y‖)) with the nuclear norm, 0 for layers that differ by a
rotation and a scale: a metric (A. Williams et al., "Generalized shape metrics on neural representations", 2021).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from carryover.diagnosis.inheritance import jackknife, sample_blocks
from carryover.diagnosis.sources import Activations, opened, same_order
from carryover.errors import UserError

_PRODUCTS = 2**16  # of a kernel that are summed in single precision


def layer_similarity(
    before: Mapping[str, Any] | str | Path,
    after: Mapping[str, Any] | str | Path,
    layers: Sequence[str] | str | None = None,
    other_layers: Sequence[str] | str | None = None,
    *,
    debiased: bool = False,
    batch: int | None = None,
    measure: str = "cka",
    confidence: float | None = None,
) -> xr.DataArray | xr.Dataset:
    """Linear CKA, or the Procrustes distance, of each layer before and each layer after, (layer_before, layer_after).

    Parameters
    ----------
    before, after
        What `diagnose` takes: mappings {layer: (samples, …)} or files, of the same samples in the same order. Layers
        may have different units, and the networks different layers.
    layers, other_layers
        Those of `before`, all by default, and those of `after`, `layers` by default.
    debiased
        Estimate CKA without the bias of few samples. It may be negative, and NaN where noise is all there is.
    batch
        Average the debiased estimate over batches of so many samples; a smaller rest is left out.
    measure
        "cka" or "procrustes".
    confidence
        Of jackknife intervals over blocks of samples, `low` and `high` in the dataset that is then returned.

    Raises
    ------
    UserError
        A ValueError, in one sentence, for files that cannot be read, samples that differ in number or order, fewer than
        four samples if debiased, and layers that a side lacks, that are not finite or do not vary.
    """
    if measure not in ("cka", "procrustes") or (measure != "cka" and (debiased or batch)):
        raise UserError(f"measure must be 'cka', or 'procrustes' without debiased and batch, got {measure!r}")
    with opened(before, "before") as old, opened(after, "after") as new:
        same_order(old, new)
        names = _named(old, layers), _named(new, layers if other_layers is None else other_layers)
        every = [side.matrix(name) for side, some in zip((old, new), names, strict=True) for name in some]
        ids = old.ids if old.ids is not None else new.ids
    samples, debiased = len(every[0]), debiased or batch is not None
    if others := {len(X) for X in every} - {samples}:
        raise UserError(f"before and after must have the same samples, got {samples} and {min(others)} of them")
    if debiased and min(batch or samples, samples) < 4:
        batches = "" if batch is None else f" in batches of {batch}"
        raise UserError(f"a debiased similarity needs 4 samples or more, got {samples}{batches}")
    split = len(names[0])

    def values(chosen: Sequence[np.ndarray]) -> np.ndarray:
        return _distances(chosen, split) if measure == "procrustes" else _alignments(chosen, split, debiased, batch)

    whole = values(every)
    label = "Procrustes distance" if measure == "procrustes" else f"{'debiased ' * debiased}linear CKA"
    attributes = {"long_name": label, "units": "1", "samples": samples}
    coords = dict(zip(("layer_before", "layer_after"), names, strict=True))
    found = xr.DataArray(whole, coords, tuple(coords), measure, attributes)
    if confidence is None:
        return found
    block = sample_blocks(samples, ids)
    table = np.array([whole, *(values([X[block != b] for X in every]) for b in np.unique(block))])
    result = found.to_dataset()
    for name, end in zip(("low", "high"), np.apply_along_axis(jackknife, 0, table, confidence), strict=True):
        result[name] = (tuple(coords), end, {"long_name": f"{name} end of the interval of: {label}", "units": "1"})
    return result


def _alignments(layers: Sequence[np.ndarray], split: int, debiased: bool, batch: int | None) -> np.ndarray:
    """CKA of the first `split` layers (samples, units) and the others, averaged over batches."""
    samples = len(layers[0])
    size = samples if batch is None else min(batch, samples)
    starts = range(0, samples - size + 1, size)
    inner = np.sum([_inner_products([X[at : at + size] for X in layers], debiased) for at in starts], axis=0)
    own = np.sqrt(np.where(np.diag(inner) > 0, np.diag(inner), np.nan))
    return inner[:split, split:] / np.outer(own[:split], own[split:])


def _inner_products(layers: Sequence[np.ndarray], debiased: bool) -> np.ndarray:
    """⟨K, L⟩ of all pairs of layers (samples, units), or what replaces it."""
    n = len(layers[0])
    centred = [X - X.mean(axis=0) for X in layers]
    inner = np.zeros((len(layers), len(layers)))
    step = max(1, _PRODUCTS // n)
    for start in range(0, n, step):  # rows of all kernels, from the diagonal on: what is beyond it counts twice
        rows = np.stack([x[start : start + step] @ x[start:].T for x in centred])
        rows[:, :, step:] *= 2**0.5
        flat = rows.reshape(len(layers), -1)
        inner += flat @ flat.T
    if debiased:
        diagonals = np.array([np.einsum("nu,nu->n", x, x) for x in centred], np.float64)
        total = diagonals.sum(axis=1)
        inner += np.outer(total, total) / ((n - 1) * (n - 2)) - n / (n - 2) * diagonals @ diagonals.T
    return inner


def _distances(layers: Sequence[np.ndarray], split: int) -> np.ndarray:
    """Procrustes distances of the first `split` layers (samples, units) and the others."""
    scores = []
    for X in layers:
        x = X.astype(np.float64) - X.mean(axis=0)
        if x.shape[1] > len(x):  # another matrix of the same inner products between samples, with fewer columns
            squares, U = np.linalg.eigh(x @ x.T)
            x = U * np.sqrt(np.maximum(squares, 0))
        scores.append(x / np.linalg.norm(x))
    nuclear = [[np.linalg.norm(x.T @ y, "nuc") for y in scores[split:]] for x in scores[:split]]
    return np.arccos(np.clip(nuclear, -1, 1))


def _named(side: Activations, layers: Sequence[str] | str | None) -> list[str]:
    names = list(side.layers) if layers is None else [layers] if isinstance(layers, str) else list(layers)
    if missing := [name for name in names if name not in side.layers]:
        raise UserError(f"{side.name} lacks the layer {missing[0]}; it has {', '.join(side.layers)}")
    if not names:
        raise UserError(f"at least one layer of {side.name} must be named")
    return names
