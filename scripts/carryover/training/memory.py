"""Ensembles in pieces, and in smaller pieces where a GPU's memory is too small for them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import TypeVar

import numpy as np
import torch

from carryover.errors import UserError
from carryover.training.result import Divergence

Result = TypeVar("Result")


def in_pieces(train: Callable[[np.ndarray], Result], pieces: Iterable[np.ndarray]) -> list[Result]:
    """[train(piece) for piece in pieces], in order; pieces are indices of runs (r,), r at least 1.

    Where PyTorch reports that a GPU's memory is too small for a piece of r runs, its runs and all that are left go on
    in pieces of at most r // 2, which is said on stderr. So `train` may be called again with runs that it has begun
    with, and must not go by what it did then. A `Divergence` that it raises names runs by their places in the piece,
    and is passed on with their indices.

    Raises UserError where the memory is too small for one run.
    """
    results: list[Result] = []
    waiting = list(pieces)
    while waiting:
        piece = waiting.pop(0)
        try:
            results.append(train(piece))
            continue
        except torch.OutOfMemoryError:
            pass  # as long as the error is handled, its frames hold the tensors that are to go
        except Divergence as error:
            raise Divergence(piece[list(error.runs)].tolist(), error.what) from error
        if len(piece) == 1:
            raise UserError("a GPU's memory is too small for one network: choose the device cpu, or smaller sizes.")
        fewer = len(piece) // 2
        torch.cuda.empty_cache()
        print(f"the GPU's memory is too small for {len(piece)} networks: going on with {fewer}", file=sys.stderr)
        rest = np.concatenate([piece, *waiting])
        waiting = np.split(rest, range(fewer, len(rest), fewer))
    return results


def even(runs: np.ndarray, most: int) -> list[np.ndarray]:
    """Runs in as few pieces as hold at most so many (one at least), which differ by one at most."""
    return np.array_split(runs, -(-len(runs) // max(1, most))) if len(runs) else []
