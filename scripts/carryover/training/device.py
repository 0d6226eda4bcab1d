"""Where tensors live."""

from __future__ import annotations

import torch

from carryover.errors import UserError


def torch_device(name: str = "auto") -> torch.device:
    """The device called "cpu" or "cuda"; "auto" is CUDA where there is a GPU and the CPU otherwise.

    Raises ValueError for another name, and UserError for "cuda" where no GPU can be used.
    """
    if name not in ("auto", "cpu", "cuda"):
        raise ValueError(f"device must be auto, cpu or cuda, got {name!r}")
    available = torch.cuda.is_available()
    if name == "cuda" and not available:
        raise UserError("device is cuda, but no CUDA GPU can be used here: choose auto or cpu")
    return torch.device("cuda" if available and name != "cpu" else "cpu")
