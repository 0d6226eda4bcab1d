"""Tangent kernels of ReLU networks: (A Aᵀ) ∘ (X Xᵀ) − C Cᵀ over the samples of all outputs, + B Bᵀ over those of each.

On the processor they are made one network at a time, in place, by symmetric products of SciPy's library: what is
multiplied stays in the cache, and they take a quarter of the time of PyTorch's.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from scipy.linalg.blas import ssyrk
from threadpoolctl import ThreadpoolController

_MANY = 2048  # samples: with fewer, threads of NumPy's and SciPy's libraries wait for each other
_THREADS = ThreadpoolController()


@dataclass(frozen=True)
class Features:
    """Of networks, in single precision."""

    active: torch.Tensor  # A, (R, N, H)
    inputs: torch.Tensor  # X, (R, N, D)
    across: torch.Tensor | None  # C, (R, N, H), where there are any
    responses: torch.Tensor | None  # B, (R, N, H)
    rows: Sequence[int]  # samples of each output


def threads(samples: int) -> AbstractContextManager:
    """Inside, these libraries have as many threads as problems of this size are worth."""
    return _THREADS.limit(limits=1 if samples < _MANY else None, user_api="blas")


def fill(kernels: torch.Tensor, features: Features) -> None:
    """The lower triangle of kernels (R, N, N), which hold finite numbers; the rest is not to be read."""
    if kernels.device.type == "cpu":
        for run, kernel in enumerate(kernels.numpy()):
            _one(kernel.T, features, run)
    else:
        _together(kernels, features)


def _one(kernel: np.ndarray, features: Features, run: int) -> None:
    """The upper triangle of one kernel, an array in Fortran's order."""
    ssyrk(1.0, features.active[run].numpy().T, trans=1, c=kernel, overwrite_c=1)
    kernel *= ssyrk(1.0, features.inputs[run].numpy().T, trans=1)  # 0 in the other triangle
    if features.across is not None:
        ssyrk(-1.0, features.across[run].numpy().T, trans=1, beta=1.0, c=kernel, overwrite_c=1)
    if features.responses is not None:
        responses = features.responses[run].numpy()
        if len(features.rows) == 1:
            ssyrk(1.0, responses.T, trans=1, beta=1.0, c=kernel, overwrite_c=1)
        else:
            for own in _slices(features.rows):
                kernel[own, own] += ssyrk(1.0, responses[own].T, trans=1)


def _together(kernels: torch.Tensor, features: Features) -> None:
    torch.bmm(features.active, features.active.mT, out=kernels)
    kernels *= features.inputs @ features.inputs.mT
    if features.across is not None:
        kernels.baddbmm_(features.across, features.across.mT, alpha=-1)
    if features.responses is not None:
        for own in _slices(features.rows):
            responses = features.responses[:, own]
            kernels[:, own, own].baddbmm_(responses, responses.mT)


def _slices(rows: Sequence[int]) -> list[slice]:
    ends = np.cumsum([0, *rows]).tolist()
    return [slice(*pair) for pair in pairwise(ends)]
