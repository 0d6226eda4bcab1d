"""Small modules, and what is recorded of them."""

import torch
from torch import nn

from carryover.diagnosis.recording import record


class Says(nn.Module):
    """Gives out what a function makes of its input, whatever that is."""

    def __init__(self, make):
        super().__init__()
        self.make, self.part = make, nn.Identity()
        self.part.forward = make

    def forward(self, x, **others):
        return self.part(x)


def fed(module, names, calls, path=None, **told):
    """What is recorded in memory of `calls`, each the inputs of one."""
    with record(module, names, path, **told) as see:
        for inputs in calls:
            see(*inputs)
    return see.recording


def seen(module, names, *inputs, reduce="flatten", batch_axis=None, **named):
    """What is recorded in memory of one call."""
    with record(module, names, reduce=reduce, batch_axis=batch_axis) as see:
        see(*inputs, **named)
    return see.recording


def numbers(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def small():
    torch.manual_seed(0)
    block = nn.Sequential(nn.Linear(6, 5), nn.ReLU())
    return nn.Sequential(nn.Sequential(block, nn.Linear(5, 4)), nn.Linear(4, 3))
