"""Where tensors are, ensembles in chunks that fit there, and memory that is freed."""

from __future__ import annotations

import ctypes
import platform
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import torch

from carryover.errors import UserError

Result = TypeVar("Result")


def torch_device(name: str = "auto") -> torch.device:
    """The device called "cpu" or "cuda"; "auto" is CUDA where there is a GPU and the CPU otherwise.

    Raises UserError for "cuda" where no GPU can be used.
    """
    available = torch.cuda.is_available()
    if name == "cuda" and not available:
        raise UserError("device is cuda, but no CUDA GPU can be used here: choose auto or cpu")
    return torch.device("cuda" if available and name != "cpu" else "cpu")


def tensor(values: Any, device: torch.device, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    """Numbers, an array or lists, on a device."""
    return torch.as_tensor(np.ascontiguousarray(values), dtype=dtype, device=device)


def in_chunks(train: Callable[[np.ndarray], Result], runs: np.ndarray, most: int) -> list[Result]:
    """What `train` returns of runs, (·,) indices, in as few chunks of at most `most` (at least one) as possible.

    The sizes of chunks differ by one at most. After PyTorch reported that a GPU's memory is too small for a chunk, half
    of its runs are tried, which is said on stderr; UserError where it is too small for one run.
    """
    results: list[Result] = []
    waiting = np.array_split(runs, -(-len(runs) // max(1, most))) if len(runs) else []
    while waiting:
        chunk = waiting.pop(0)
        try:
            results.append(train(chunk))
            continue
        except torch.OutOfMemoryError:
            pass  # as long as the error is handled, its frames hold the tensors that should be freed
        if len(chunk) == 1:
            raise UserError("a GPU's memory is too small for one network: choose the device cpu, or smaller sizes.")
        fewer = len(chunk) // 2
        torch.cuda.empty_cache()
        print(f"the GPU's memory is too small for {len(chunk)} networks: continuing with {fewer}", file=sys.stderr)
        rest = np.concatenate([chunk, *waiting])
        waiting = np.split(rest, range(fewer, len(rest), fewer))
    return results


def keep_freed() -> None:
    """Let glibc keep freed memory for the next of many equal steps.

    Otherwise it returns large arrays to the system at once, which must clear new pages for the next step.
    """
    if platform.libc_ver()[0] == "glibc":
        library, mmap_max, trim_threshold = ctypes.CDLL(None), -4, -1  # in glibc's malloc.h
        library.mallopt(mmap_max, 0)
        library.mallopt(trim_threshold, 2**31 - 1)
