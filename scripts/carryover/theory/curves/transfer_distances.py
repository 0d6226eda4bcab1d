"""Theory curve: distances between the data of two linear tasks beside the transferability between them.

"Features are fate: a theory of transfer learning in high-dimensional regression", figure 4 and section 2.1.
"""

from typing import Any

import numpy as np
import xarray as xr

from carryover.labels import described
from carryover.streams import generator
from carryover.theory import discrepancy, transfer


def compute(p: Any) -> xr.Dataset:
    """Distances and transferabilities (target_norm, angle), the sampled distances with `repeat`; dimensionless.

    The same draws serve all targets, so that curves over them are smooth. Along θ ∈ [0, π/2] at κ = 1 the
    transferabilities fall as the distances rise. Linear transfer depends on θ through sin²θ alone: over [0, π], or with
    targets −κβ_s, it is best again where the distances are largest; and κ changes distances and gains independently.
    At σ = 0 the Kullback–Leibler divergence is infinite. Raises ValueError where a value is out of its range.
    """
    theta, norm = np.pi * np.array(p.angle, float), np.array(p.target_norm, float)
    targets = norm[:, None, None] * np.stack([np.cos(theta), np.sin(theta)], axis=-1)
    source = np.array([1.0, 0.0])
    length = norm[:, None]
    linear = length**2 * transfer.linear_transferability(p.gamma, theta, p.noise / length)
    finetuning = transfer.finetune_transferability(p.gamma, theta, p.noise, p.depth, target_norm=length)
    dims, sampled = ("target_norm", "angle"), ("target_norm", "angle", "repeat")
    wasserstein, dudley = distances = np.empty((2, *targets.shape[:2], p.repeats))
    for *index, repeat in np.ndindex(wasserstein.shape):
        for distance, values in zip((discrepancy.wasserstein1, discrepancy.dudley_metric), distances, strict=True):
            rng = generator("transfer_distances", {"repeat": repeat}, 0, "inputs")
            values[*index, repeat] = distance(source, targets[*index], p.noise, p.samples, rng)
    divergence = discrepancy.kl_divergence(source, targets, p.noise)
    return described(
        {
            "kl": (dims, divergence, "Kullback-Leibler divergence"),
            "wasserstein": (sampled, wasserstein, "Wasserstein-1 distance between samples"),
            "dudley": (sampled, dudley, "Dudley metric between samples"),
            "linear": (dims, linear, "risk from scratch less risk of linear transfer"),
            "finetuning": (dims, finetuning, "risk from scratch less risk of finetuning"),
        },
        {
            "target_norm": (norm, "norm of the target's coefficients, beside a source of norm 1"),
            "angle": (np.array(p.angle, float), "angle between source and target task", "pi"),
            "repeat": (np.arange(p.repeats), "draw of the samples"),
        },
    )
