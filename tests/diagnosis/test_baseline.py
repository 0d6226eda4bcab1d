"""A re-initialised copy has nothing of the network but its shape, and is the same for the same seed."""

import pytest
import torch
from torch import nn

from carryover.diagnosis.baseline import reinitialised
from carryover.errors import UserError


class Token(nn.Module):
    """Has a parameter of its own that nothing resets."""

    def __init__(self):
        super().__init__()
        self.token, self.linear = nn.Parameter(torch.ones(4)), nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x + self.token)


def network():
    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(144, 6), nn.LayerNorm(6),
        nn.Sequential(nn.Linear(6, 6), nn.MultiheadAttention(6, 2)),
    )  # fmt: skip
    with torch.no_grad():
        for one in (*net.parameters(), *net.buffers()):
            one += 3
    return net


def test_everything_is_drawn_anew_by_the_seed_and_the_network_is_left_alone():
    net = network()
    values, random = {name: one.clone() for name, one in net.state_dict().items()}, torch.get_rng_state()
    first, second, other = reinitialised(net, 1), reinitialised(net, 1), reinitialised(net, 2)
    assert torch.equal(torch.get_rng_state(), random)
    assert all(torch.equal(one, values[name]) for name, one in net.state_dict().items())
    for name, one in first.state_dict().items():
        assert torch.equal(one, second.state_dict()[name])
        assert one.abs().max() <= 1  # nothing of what was 3 more
        if one.dim() > 1:
            assert not torch.equal(one, other.state_dict()[name])
    assert torch.equal(first[1].running_var, torch.ones(4))


def test_what_nothing_resets_is_kept_and_named():
    net = Token()
    with pytest.warns(UserWarning, match="keeps what nothing resets: token; give baseline= a network made anew"):
        made = reinitialised(net)
    assert torch.equal(made.token, net.token)
    assert not torch.equal(made.linear.weight, net.linear.weight)
    for nothing in (nn.ReLU(), nn.ParameterList([torch.ones(3)])):
        with pytest.raises(UserError, match="no parameter of the network can be reset"):
            reinitialised(nothing)


@pytest.mark.parametrize("norm", ["weight_norm", "spectral_norm"])
def test_weights_that_are_computed_of_others_are_drawn_anew(norm):
    net = nn.Sequential(getattr(nn.utils.parametrizations, norm)(nn.Linear(30, 30)), nn.Linear(30, 4))
    with torch.no_grad():
        net[0].weight = torch.full((30, 30), 3.0)
    made = reinitialised(net)
    assert made[0].weight.std() > 0.01
    if norm == "weight_norm":  # the other is divided by its largest singular value
        assert made[0].weight.abs().max() <= 30**-0.5
    assert made(torch.ones(2, 30)).isfinite().all()


def test_tied_weights_stay_tied_and_wrappers_are_taken_off():
    net = nn.Sequential(nn.Embedding(9, 4), nn.Linear(4, 9, bias=False))
    net[1].weight = net[0].weight
    made = reinitialised(nn.DataParallel(net))
    assert isinstance(made, nn.Sequential)
    assert made[1].weight is made[0].weight
    assert not torch.equal(made[0].weight, net[0].weight)
