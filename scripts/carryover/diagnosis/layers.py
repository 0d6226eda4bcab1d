"""How alike each layer of one network is to each layer of another, from their responses to the same samples.

    from carryover import layer_similarity
    matrix = layer_similarity("before.nc", "after.nc")          # (layer_before, layer_after)

Linear centred kernel alignment (CKA): for centred X and Y, ⟨K, L⟩ / √(⟨K, K⟩⟨L, L⟩) with K = XXᵀ and L = YYᵀ, where
⟨K, L⟩ = Σ K_ij L_ij = ‖XᵀY‖². With fewer samples than units it is too large: of unrelated layers it tends to 1. The
debiased one has in place of ⟨K, L⟩ the unbiased estimate of L. Song et al., "Feature selection via dependence
maximization" (2012), equation 4, which for centred kernels with diagonals a and b is a multiple of

    ⟨K, L⟩ − n/(n−2) a·b + Σa Σb / ((n−1)(n−2)).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from carryover.diagnosis.inheritance import sample_blocks
from carryover.diagnosis.sources import common_samples, open_source
from carryover.errors import UserError
from carryover.statistics import jackknife

_PRODUCTS = 2**16  # of a kernel that are summed in single precision


def layer_similarity(
    before: Mapping[str, Any] | str | Path,
    after: Mapping[str, Any] | str | Path,
    layers: Sequence[str] | str | None = None,
    *,
    debiased: bool = False,
    confidence: float | None = None,
) -> xr.DataArray | xr.Dataset:
    """Linear CKA of each layer before and each layer after, (layer_before, layer_after).

    Parameters
    ----------
    before, after
        What `diagnose` takes: mappings {layer: (samples, …)} or files, of the same samples in the same order. Layers
        may have different units, and the networks different layers.
    layers
        Those of both networks; by default all that each of them has.
    debiased
        Estimate CKA without the bias of few samples. It may be negative, and NaN where noise is all there is.
    confidence
        Of jackknife intervals over blocks of samples, `low` and `high` in the dataset that is then returned.

    Raises
    ------
    UserError
        A ValueError, in one sentence, for files that cannot be read, samples that differ in number or order, fewer than
        four samples if debiased, and layers that a side lacks, that are not finite or do not vary.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((50, 4))
    >>> layer_similarity({"hidden": X}, {"hidden": 2 * X}).round(6).values
    array([[1.]])
    """
    chosen = [layers] if isinstance(layers, str) else layers
    with open_source(before, "before") as old, open_source(after, "after") as new:
        samples, ids = common_samples((old, new), chosen or ())
        coords = {"layer_before": list(chosen or old.layers), "layer_after": list(chosen or new.layers)}
        responses = [
            [side.matrix(name) for name in names] for side, names in zip((old, new), coords.values(), strict=True)
        ]
    if debiased and samples < 4:
        raise UserError(f"a debiased similarity needs 4 samples or more, got {samples}")
    values = _cka(responses[0], responses[1], debiased)
    label = f"{'debiased ' * debiased}linear CKA"
    attributes = {"long_name": label, "units": "1", "samples": samples}
    similarity = xr.DataArray(values, coords, tuple(coords), "cka", attributes)
    if confidence is None:
        return similarity
    block = sample_blocks(samples, ids)
    table = [values]
    for b in np.unique(block):
        old_left, new_left = ([X[block != b] for X in side] for side in responses)
        table.append(_cka(old_left, new_left, debiased))
    result = similarity.to_dataset()
    for name, end in zip(("low", "high"), np.apply_along_axis(jackknife.interval, 0, table, confidence), strict=True):
        result[name] = (tuple(coords), end, {"long_name": f"{name} end of the interval of: {label}", "units": "1"})
    return result


def _cka(before: Sequence[np.ndarray], after: Sequence[np.ndarray], debiased: bool) -> np.ndarray:
    """CKA of layers (samples, units) before and after, (before, after)."""
    n, split = len(before[0]), len(before)
    centred = [X - X.mean(axis=0) for X in (*before, *after)]
    inner = np.zeros((len(centred), len(centred)))  # ⟨K, L⟩ of all pairs
    step = max(1, _PRODUCTS // n)
    for start in range(0, n, step):  # rows of all kernels from the diagonal on; entries beyond it count twice
        rows = np.stack([x[start : start + step] @ x[start:].T for x in centred])
        rows[:, :, step:] *= 2**0.5  # in both factors of a product
        flat = rows.reshape(len(centred), -1)
        inner += flat @ flat.T
    if debiased:
        diagonals = np.array([np.einsum("nu,nu->n", x, x) for x in centred], np.float64)
        total = diagonals.sum(axis=1)
        inner += np.outer(total, total) / ((n - 1) * (n - 2)) - n / (n - 2) * diagonals @ diagonals.T
    norms = np.sqrt(np.where(np.diag(inner) > 0, np.diag(inner), np.nan))
    return inner[:split, split:] / np.outer(norms[:split], norms[split:])
