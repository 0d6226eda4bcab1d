"""Theory curve: transferability of linear transfer and of finetuning between linear tasks, and where it is negative.

"Features are fate: a theory of transfer learning in high-dimensional regression", figures 1, 2, 7 and 8.
"""

from typing import Any

import numpy as np
import xarray as xr

from carryover.labels import described
from carryover.theory import transfer

_CRITICAL = 1e-9  # distance of γ from 1 that is rounding


def compute(p: Any) -> xr.Dataset:
    """Transferabilities, the risk from scratch, and the boundaries of negative transfer, over `angle` and `gamma`.

    At γ = 1 with noise the risk from scratch and the transferability of linear transfer are infinite, which the default
    grid avoids. Angles are in units of π; all else is dimensionless.
    """
    angle, gamma = np.linspace(0.0, 0.5, p.angles), np.linspace(0.005, 1.995, p.points)
    gamma[abs(gamma - 1) < _CRITICAL] = 1  # where the risk from scratch is infinite, not merely huge
    noise, depth, theta = np.array(p.noise, float), np.array(p.depth), np.pi * angle
    by_noise, by_depth = noise[:, None, None], depth[:, None]
    linear = transfer.linear_transferability(gamma, theta[:, None], by_noise)
    finetuning = transfer.finetune_transferability(gamma, theta[:, None])
    # Equation 15 with the norm factor of "Finetuning with linear teachers" (equation 5).
    with_norm = transfer.finetune_transferability(gamma, theta[:, None], by_noise[..., None], by_depth[..., None])
    low, high = transfer.negative_transfer_interval(theta, noise[:, None])
    threshold = transfer.negative_transfer_threshold(theta, noise[:, None])
    boundary = transfer.finetune_boundary(gamma, by_noise, by_depth) / np.pi
    regions, gain, above = ("noise", "angle"), "risk from scratch less risk of", "gamma above which linear transfer is"
    return described(
        {
            "linear": (("noise", "angle", "gamma"), linear, f"{gain} linear transfer"),
            "finetuning": (("angle", "gamma"), finetuning, f"{gain} finetuning, norm outside the data kept"),
            "finetuning_norm": (("noise", "depth", "angle", "gamma"), with_norm, f"{gain} finetuning"),
            "scratch": (("noise", "gamma"), transfer.scratch_risk(gamma, noise[:, None]), "risk from scratch"),
            "interval_low": (regions, low, f"{above} negative, below 1"),
            "interval_high": (regions, high, "gamma below 1 up to which linear transfer is negative"),
            "threshold": (regions, threshold, f"{above} negative, above 1"),
            "finetuning_boundary": (("noise", "depth", "gamma"), boundary,
                                    "angle above which finetuning is negative", "pi"),
        },
        {
            "noise": (noise, "standard deviation of the label noise"),
            "depth": (depth, "layers, with the readout"),
            "angle": (angle, "angle between source and target task", "pi"),
            "gamma": (gamma, "samples per input dimension, n/d"),
        },
    )  # fmt: skip
