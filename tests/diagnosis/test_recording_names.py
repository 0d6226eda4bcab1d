"""Which layers names mean: patterns, calls, and the same names through wrappers."""

import numpy as np
import pytest
import torch
from torch import nn

from carryover.diagnosis.modules import submodules
from carryover.errors import UserError
from toy.recorded import numbers, seen, small


def test_one_name_several_and_patterns_in_torchs_order():
    net, x = small(), numbers(9, 6)
    assert list(seen(net, "0.1", x)) == ["0.1"]
    assert list(seen(net, ["1", "0.0.*", "1"], x)) == ["1", "0.0.0", "0.0.1"]
    assert list(seen(net, "*", x)) == [name for name, _ in net.named_modules() if name]  # the star crosses dots
    np.testing.assert_allclose(seen(net, "0.[01]", x)["0.1"], net[0](x).detach(), rtol=1e-6)
    with pytest.raises(UserError, match=r"none is like block\*; there are: 0, 0\.0, 0\.0\.0, 0\.0\.1, 0\.1, …"):
        seen(net, "block*", x)


class Odd(nn.Module):
    """Parts that a pattern matches and that cannot be recorded, beside one that can."""

    def __init__(self):
        super().__init__()
        self.fc, self.twice, self.lstm = nn.Linear(4, 4), nn.ReLU(), nn.LSTM(4, 4, batch_first=True)
        self.holder = nn.ModuleList([nn.Linear(4, 4)])
        self.position = nn.Embedding(3, 4)

    def forward(self, x):
        x = x + self.position(torch.arange(3))
        return self.lstm(self.twice(self.holder[0](self.twice(self.fc(x)))))[0]


def test_what_a_pattern_matches_and_cannot_be_recorded_is_left_out_with_a_warning():
    x = numbers(7, 3, 4)
    with pytest.warns(UserWarning, match=r"left out .*; lstm gives a tuple.*twice was 2 times: name a call") as said:
        found = seen(Odd(), "*", x)
    assert "position must have the batch along axis 0, and has 3 there for 7 samples" in str(said[0].message)
    assert list(found) == ["fc", "holder.0"]
    assert list(seen(Odd(), ["twice@0", "twice@1", "lstm:0"], x)) == ["twice@0", "twice@1", "lstm:0"]


class Adapted(nn.Module):
    """As PEFT's layers are: the frozen layer inside, and an adapter beside it."""

    def __init__(self, layer):
        super().__init__()
        self.base_layer, self.lora_A = layer, nn.ModuleDict({"default": nn.Linear(6, 5)})

    def forward(self, x):
        return self.base_layer(x) + self.lora_A["default"](x)


def adapted():
    net = small()
    net[0][0][0] = Adapted(net[0][0][0])
    return net


def wrapped(name, wrapper):
    """The wrapper's class as a library's of that name would be."""
    return type("Wrapper", (nn.Module,), {"__module__": name, "forward": lambda self, x: wrapper(self)(x)})


def peft(net):
    outer, inner = wrapped("peft.peft_model", lambda w: w.base_model)(), wrapped("peft.tuners", lambda w: w.model)()
    inner.model, outer.base_model = net, inner
    return outer


WRAPPERS = {
    "parallel": nn.DataParallel,
    "averaged": torch.optim.swa_utils.AveragedModel,
    "compiled": lambda net: torch.compile(net, backend="eager"),
    "peft": peft,
    "several": lambda net: nn.DataParallel(torch.compile(peft(net), backend="eager")),
}


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
@pytest.mark.parametrize("make", [small, adapted])
def test_plain_names_are_found_in_wrapped_networks(make, wrap):
    x = numbers(9, 6)
    plain, net = seen(make(), "*", x), wrap(make())
    net(x)  # what is compiled is so now, without hooks
    assert list(submodules(net)) == list(plain) == list(submodules(small()))
    found = seen(net, "*", x)
    for name, values in plain.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-6)
    longest = max((name for name, _ in net.named_modules()), key=len)
    if make is small:
        assert list(seen(net, longest, x)) == [longest.rpartition("model.")[2].removeprefix("module.").removeprefix(
            "_orig_mod.")]  # fmt: skip
