"""How long the next step of an integration is, by the error of the last one."""

from __future__ import annotations

import torch

GROW = 5.0  # a step is at most so many times the last one
SHRINK = 0.2
HALVE = 0.5
UNMOVED = 0.1
"""Share of a unit's size relative to which its error is measured until the unit has moved farther."""
_SAFETY = 0.8


def scale(displacement: torch.Tensor, size: torch.Tensor) -> torch.Tensor:
    """What the error of a step in units is measured relative to, for their displacement since the start and their size.

    An error relative to size alone would hide what matters where weights are large against their motion, as after
    rescaling by 100.
    """
    return displacement.maximum(UNMOVED * size)


def factor(
    error: torch.Tensor, sound: torch.Tensor, *, order: int = 2, most: float | torch.Tensor = GROW,
    failed: float = HALVE,
) -> torch.Tensor:  # fmt: skip
    """Factors (R,) on the steps of runs, for errors (R,) in units of what is allowed, which go with a power of a step.

    `most` is the largest factor. Where a step is not `sound`, whatever its error, the next one is shorter: `failed` is
    the largest factor then.
    """
    wanted = (_SAFETY * error.clamp_min(1e-12) ** (-1 / order)).clamp(min=SHRINK)
    wanted = wanted.minimum(torch.as_tensor(most, dtype=wanted.dtype, device=wanted.device))
    return torch.where(sound, wanted, wanted.nan_to_num(SHRINK).clamp(max=failed))
