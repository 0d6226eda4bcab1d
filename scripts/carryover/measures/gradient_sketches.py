"""Gradients of a random readout of a network's features, by the weights below, in few numbers.

Their products are the kernel with which a network is finetuned as long as its features change little.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from carryover.streams import generator

SKETCH = 2**16
"""Numbers that the gradient at a sample is projected to where the network has more parameters."""


def readout_gradients(features: Tensor, parameters: Sequence[nn.Parameter], seed: int) -> dict[int, Tensor]:
    """{index of a parameter: flattened gradient of v·features by it}, for the parameters that the features depend on.

    features : (k,) of one sample, with the graph that autograd needs
    seed : determines the random readout v (k,), which is thus the same for all samples
    """
    if not features.requires_grad:
        return {}
    # Uniform between ±1/√k, as PyTorch initialises a linear layer.
    drawn = generator("forecast", "", seed, "readout").uniform(-1, 1, len(features)) / np.sqrt(len(features))
    value = torch.as_tensor(drawn).to(features) @ features
    found = torch.autograd.grad(value, parameters, allow_unused=True)
    return {index: one.detach().flatten().float().cpu() for index, one in enumerate(found) if one is not None}


class Sums:
    """Projects gradients {number of a parameter: gradient} to `SKETCH` sums where they are longer, else joins them.

    Each number is added, with a random sign, to one of the sums (Charikar, Chen and Farach-Colton 2002), the same one
    at all samples. The product of two sketches is that of the gradients g and g', with a standard deviation below
    √(2/`SKETCH`) |g||g'|, .006 |g||g'|.
    """

    def __init__(self, seed: int) -> None:
        self._draws = torch.Generator().manual_seed(seed)
        self._drawn: dict[int, tuple[Tensor, Tensor]] = {}  # places among the sums, and signs

    def __call__(self, gradients: Mapping[int, Tensor]) -> np.ndarray:
        if not gradients:
            return np.zeros(1)
        if sum(one.numel() for one in gradients.values()) <= SKETCH:
            return torch.cat([*gradients.values()]).numpy()
        sums = torch.zeros(SKETCH)
        for number, gradient in gradients.items():
            if number not in self._drawn:
                drawn = torch.randint(2 * SKETCH, gradient.shape, generator=self._draws)
                self._drawn[number] = (drawn >> 1).int(), ((drawn & 1) * 2 - 1).to(torch.int8)
            places, signs = self._drawn[number]
            sums.index_add_(0, places, gradient * signs)
        return sums.numpy()
