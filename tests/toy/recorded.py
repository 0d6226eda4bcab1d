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


def seen(module, names, *inputs, reduce="flatten", batch_axis=None, channel_axis=None, **named):
    """What is recorded in memory of one call."""
    with record(module, names, reduce=reduce, batch_axis=batch_axis, channel_axis=channel_axis) as see:
        see(*inputs, **named)
    return see.recording


def numbers(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def small():
    torch.manual_seed(0)
    block = nn.Sequential(nn.Linear(6, 5), nn.ReLU())
    return nn.Sequential(nn.Sequential(block, nn.Linear(5, 4)), nn.Linear(4, 3))


class Adapted(nn.Module):
    """As PEFT's layers are: the frozen layer inside, and a low-rank adapter beside it."""

    def __init__(self, layer):
        super().__init__()
        self.base_layer, self.active_adapters = layer, ["default"]
        self.lora_A, self.lora_B = (
            nn.ModuleDict({"default": nn.Linear(*size, bias=False)}) for size in ((6, 1), (1, 5))
        )

    def get_delta_weight(self, adapter):
        return self.lora_B[adapter].weight @ self.lora_A[adapter].weight

    def forward(self, x):
        return self.base_layer(x) + x @ self.get_delta_weight("default").T


def adapted():
    """The small network with an adapter in its first layer."""
    net = small()
    net[0][0][0] = Adapted(net[0][0][0])
    return net
