"""Where tensors are, and memory that is freed."""

from __future__ import annotations

import ctypes
import platform
from typing import Any

import numpy as np
import torch

from carryover.errors import UserError


def torch_device(name: str = "auto") -> torch.device:
    """The device called "cpu" or "cuda"; "auto" is CUDA where there is a GPU and the CPU otherwise.

    Raises UserError for "cuda" where no GPU can be used.
    """
    available = torch.cuda.is_available()
    if name == "cuda" and not available:
        raise UserError("device is cuda, but no CUDA GPU can be used here: choose auto or cpu")
    if not available or name == "cpu":
        return torch.device("cpu")
    # The same run gives the same numbers on one GPU: convolutions are not chosen by how fast they were a moment ago.
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
    return torch.device("cuda")


def tensor(values: Any, device: torch.device, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    """Numbers, an array or lists, on a device."""
    return torch.as_tensor(np.ascontiguousarray(values), dtype=dtype, device=device)


def keep_free_memory() -> None:
    """Let glibc keep freed memory for the next of many equal steps.

    Otherwise it returns large arrays to the system at once, which must clear new pages for the next step.
    """
    if platform.libc_ver()[0] == "glibc":
        library, mmap_max, trim_threshold = ctypes.CDLL(None), -4, -1  # in glibc's malloc.h
        library.mallopt(mmap_max, 0)
        library.mallopt(trim_threshold, 2**31 - 1)
