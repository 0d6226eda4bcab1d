"""Facts about networks: which weights differ, and a re-initialised copy that has nothing but the shape."""

import copy

import numpy as np
import pytest
import torch
from torch import nn

from carryover.diagnosis.networks import reinitialise, renew_statistics, weight_changes
from carryover.errors import UserError
from carryover.networks.convnet_layers import BatchNorm2d
from toy.recorded import adapted, small


def test_change_and_effective_rank_are_those_of_the_singular_values():
    before = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Sequential(nn.Linear(8, 30), nn.Linear(30, 4)))
    after = copy.deepcopy(before)
    torch.manual_seed(0)
    change = torch.randn(30, 3) @ torch.randn(3, 8)
    with torch.no_grad():
        after[2][0].weight += change
        after[0].weight += 0.1 * torch.randn(8, 3, 3, 3)
    found, note = weight_changes(before, after, ["0", "1", "2", "2.1"])
    for place, delta in ((0, after[0].weight - before[0].weight), (2, change)):
        s = np.linalg.svd(delta.detach().flatten(1).numpy().astype(float), compute_uv=False)
        size = np.sqrt(sum(float(p.detach().square().sum()) for p in before[place].parameters()))
        assert found["weight_change"][place] == pytest.approx(np.linalg.norm(s) / size, rel=1e-5)
        assert found["weight_rank"][place] == pytest.approx((s**2).sum() ** 2 / (s**4).sum(), rel=1e-5)
    assert found["weight_rank"][2] < 3.001
    assert np.isnan(found["weight_change"][1])
    assert found["weight_change"][3] == 0
    assert note == "2 of 6 parameters differ (0.weight, 2.0.weight)."


def test_it_is_said_where_only_buffers_differ_or_nothing_does():
    before = nn.Sequential(nn.Linear(6, 5), nn.BatchNorm1d(5))
    after = copy.deepcopy(before)
    assert weight_changes(before, after, [])[1] == "No parameter or buffer differs."
    after[1].running_mean += 1
    assert weight_changes(before, after, [])[1] == "No parameter differs, only buffers do (1.running_mean)."


def test_computed_weights_count_as_the_layer_uses_them_and_wrappers_do_not():
    before = small()
    after = copy.deepcopy(before)
    nn.utils.parametrizations.weight_norm(after[1])
    assert weight_changes(before, nn.DataParallel(after), ["1"])[0]["weight_change"][0] == pytest.approx(0, abs=1e-6)


def test_an_adapted_layer_counts_with_its_adapter():
    plain, net = small(), adapted()
    delta = net[0][0][0].get_delta_weight("default").detach()
    size = torch.cat([p.flatten() for p in plain[0][0][0].parameters()]).norm()
    for found, note in (weight_changes(plain, net, ["0.0.0"]), weight_changes(net, net, ["0.0.0"], adapter=True)):
        assert found["weight_change"][0] == pytest.approx((delta.norm() / size).item(), rel=1e-5)
        assert found["weight_rank"][0] == pytest.approx(1)
        assert note == "1 of 6 parameters differ (0.0.0.weight)."


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
    first, second, other = reinitialise(net, 1), reinitialise(net, 1), reinitialise(net, 2)
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
        made = reinitialise(net)
    assert torch.equal(made.token, net.token)
    assert not torch.equal(made.linear.weight, net.linear.weight)
    for nothing in (nn.ReLU(), nn.ParameterList([torch.ones(3)])):
        with pytest.raises(UserError, match="no parameter of the network can be reset"):
            reinitialise(nothing)


@pytest.mark.parametrize("norm", ["weight_norm", "spectral_norm"])
def test_weights_that_are_computed_of_others_are_drawn_anew(norm):
    net = nn.Sequential(getattr(nn.utils.parametrizations, norm)(nn.Linear(30, 30)), nn.Linear(30, 4))
    with torch.no_grad():
        net[0].weight = torch.full((30, 30), 3.0)
    made = reinitialise(net)
    assert made[0].weight.std() > 0.01
    if norm == "weight_norm":  # the other is divided by its largest singular value
        assert made[0].weight.abs().max() <= 30**-0.5
    assert made(torch.ones(2, 30)).isfinite().all()


def test_tied_weights_stay_tied_and_wrappers_are_taken_off():
    net = nn.Sequential(nn.Embedding(9, 4), nn.Linear(4, 9, bias=False))
    net[1].weight = net[0].weight
    made = reinitialise(nn.DataParallel(net))
    assert isinstance(made, nn.Sequential)
    assert made[1].weight is made[0].weight
    assert not torch.equal(made[0].weight, net[0].weight)


def test_statistics_are_means_over_batches_for_our_layers_too():
    layer, batches = BatchNorm2d(3), torch.arange(96.0).sin().reshape(2, 4, 3, 2, 2)
    renew_statistics(layer, layer, batches)
    torch.testing.assert_close(layer.running_mean, batches.mean((0, 1, 3, 4)))
    torch.testing.assert_close(layer.running_var, batches.transpose(1, 2).flatten(2).var(2).mean(0))
