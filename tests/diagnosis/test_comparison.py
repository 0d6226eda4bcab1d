"""One call gives what recordings diagnosed one by one give, whatever the batches are, and leaves the networks alone."""

import copy
import random
from collections import UserDict

import numpy as np
import pytest
import torch
import xarray as xr
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from carryover.diagnosis import comparison
from carryover.diagnosis.baseline import reinitialised
from carryover.diagnosis.comparison import compare
from carryover.diagnosis.diagnosis import Parameters, diagnose
from carryover.errors import UserError
from toy.recorded import numbers, seen, small

SAMPLES = numbers(300, 6)


def changed(net, size=0.3):
    made = copy.deepcopy(net)
    torch.manual_seed(5)
    with torch.no_grad():
        for one in made.parameters():
            one += size * torch.randn_like(one)
    return made


@pytest.fixture
def given(monkeypatch):
    """What `diagnose` is given, in its place."""
    calls = []
    monkeypatch.setattr(comparison, "diagnose", lambda *sides, **told: calls.append((*sides, told)) or xr.Dataset())
    return calls


def quietly(*networks, **told):
    return compare(*networks, **{"progress": False, "baseline": None} | told)


def test_it_is_the_diagnosis_of_the_recordings():
    before, after = small(), changed(small())
    expected = diagnose(seen(before, "0*", SAMPLES), seen(after, "0*", SAMPLES), p=Parameters(confidence=0.9))
    found = quietly(before, after, SAMPLES, "0*", p=Parameters(confidence=0.9))
    xr.testing.assert_allclose(found, expected, rtol=1e-5)
    assert quietly(before, after, SAMPLES, "0.1")["layer"].item() == "0.1"


def test_the_headline_says_where_no_parameter_differs():
    before = nn.Sequential(nn.Linear(6, 5), nn.BatchNorm1d(5))
    after = copy.deepcopy(before)
    after[1].running_mean += 1
    ends = {"buffers": "only buffers do (1.running_mean).", "none": "No parameter or buffer differs.", "all": "(0)."}
    for networks, end in zip(
        ((before, after), (before, before), (before, changed(before))), ends.values(), strict=True
    ):
        assert quietly(*networks, SAMPLES, "0").headline.endswith(end)


def test_all_networks_see_the_same_batches_of_a_loader_that_shuffles(given):
    before, after = small(), changed(small())
    loader = DataLoader(TensorDataset(SAMPLES, torch.arange(300)), batch_size=64, shuffle=True)
    compare(before, after, loader, ["0.0.0", "1"], samples=250, baseline="reinitialised", seed=3, progress=False)
    old, new, told = given[0]
    assert old["1"].shape == (250, 3)
    order = np.abs(seen(before, "0.0.0", SAMPLES)["0.0.0"][:, None] - old["0.0.0"]).sum(2).argmin(0)
    assert (np.diff(order) < 0).any()
    np.testing.assert_allclose(new["1"], seen(after, "1", SAMPLES[order])["1"], rtol=1e-5, atol=1e-6)
    fresh = seen(reinitialised(before, 3), "1", SAMPLES[order])["1"]
    np.testing.assert_allclose(told["baseline"]["1"], fresh, rtol=1e-5, atol=1e-6)
    assert told["layers"] == ["0.0.0", "1"]


class Reader(nn.Module):
    """Takes inputs by name, as HuggingFace's models do, and has a loss where it is given labels."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.embed, self.body, self.labelled = nn.Embedding(50, 8), nn.Linear(8, 8), []

    def forward(self, input_ids, attention_mask=None, labels=None):
        self.labelled.append(labels is not None)
        return {"hidden": self.body(self.embed(input_ids)), "loss": None}


class Quiet(Reader):
    def forward(self, input_ids, attention_mask=None):
        return super().forward(input_ids, attention_mask)


IDS = torch.randint(0, 50, (300, 5), generator=torch.Generator().manual_seed(0))
LENGTHS = 1 + torch.arange(300) % 5
MASK = (torch.arange(5) < LENGTHS[:, None]).long()


@pytest.mark.parametrize("kind", [dict, UserDict, lambda batch: (dict(batch), batch["labels"])])
def test_batches_by_name_give_each_network_what_it_takes(kind, given):
    before, after = Reader(), Quiet()
    rows = torch.arange(300).split(128)
    loader = [
        kind({"idx": row, "input_ids": IDS[row], "attention_mask": MASK[row], "labels": row, "text": "words"})
        for row in rows
    ]
    quietly(before, after, loader, "body", reduce="mean")
    assert before.labelled == [True] * 3
    assert after.labelled == [False] * 3
    with torch.no_grad():
        hidden = before.body(before.embed(IDS))
    expected = torch.stack([one[:length].mean(0) for one, length in zip(hidden, LENGTHS, strict=True)])
    for side in given[0][:2]:
        np.testing.assert_allclose(side["body"], expected, rtol=1e-4, atol=1e-6)


def test_a_call_of_ones_own(given):
    net = nn.Bilinear(3, 3, 4)
    held = nn.ModuleDict({"mix": net})
    quietly(held, held, [(SAMPLES[:, :3], SAMPLES[:, 3:])], "mix", call=lambda one, batch: one["mix"](*batch))
    expected = net(SAMPLES[:, :3], SAMPLES[:, 3:]).detach()
    np.testing.assert_allclose(given[0][0]["mix"], expected, rtol=1e-4, atol=1e-6)


class Sum(nn.Module):
    """Needs two inputs, and takes a third."""

    def __init__(self):
        super().__init__()
        self.sum = nn.Identity()

    def forward(self, x, y, scale=1):
        return self.sum(scale * (x + y))


def test_as_many_parts_of_a_batch_are_taken_as_the_network_needs(given):
    quietly(Sum(), Sum(), [(SAMPLES, 2 * SAMPLES, "labels")], "sum")
    np.testing.assert_allclose(given[0][0]["sum"], 3 * SAMPLES, rtol=1e-6)
    with pytest.raises(UserError, match="batches have 1 parts, and the network needs 2 inputs: say call="):
        quietly(Sum(), Sum(), [(SAMPLES,)], "sum")


def state():
    return torch.get_rng_state(), random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002


def test_networks_gradients_and_random_numbers_are_left_as_they_were(given):
    before = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Dropout(), nn.ReLU(), nn.Linear(8, 3))
    before[2].eval()
    before[0].weight.grad = torch.ones(8, 6)
    before[3].register_forward_hook(lambda *told: None)
    after = before  # one object
    values = {name: value.clone() for name, value in before.state_dict().items()}
    modes, hooks = [one.training for one in before.modules()], [len(one._forward_hooks) for one in before.modules()]
    numbers_before = state()
    loader = DataLoader(TensorDataset(SAMPLES), batch_size=50, shuffle=True)
    compare(before, after, loader, "*", progress=False)
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        compare(before, after, [SAMPLES[:, :4]], "*", progress=False)
    for left, right in zip(numbers_before, state(), strict=True):
        assert torch.equal(left, right) if isinstance(left, torch.Tensor) else left == right
    assert [one.training for one in before.modules()] == modes
    assert [len(one._forward_hooks) for one in before.modules()] == hooks
    assert all(torch.equal(value, values[name]) for name, value in before.state_dict().items())
    assert torch.equal(before[0].weight.grad, torch.ones(8, 6))
    old, new, told = given[0]
    assert list(old) == list(new) == list(told["baseline"]) == [*told["layers"], "sample_id"]
    assert told["layers"] == ["0", "1", "2", "3", "4"]
    np.testing.assert_array_equal(old["4"], new["4"])


def test_layers_of_a_pattern_are_those_of_both_and_named_ones_must_be(given):
    before, after = small(), small()
    after[0].append(nn.Tanh())
    quietly(before, after, SAMPLES, "*")
    assert given[0][2]["layers"] == [name for name, _ in before.named_modules() if name]
    with pytest.raises(
        UserError, match=r"in the network before, names must be submodules, and 0\.2 is none; close are"
    ):
        quietly(before, after, SAMPLES, "0.2")
    named = nn.Sequential()
    named.add_module("a", nn.ReLU())
    with pytest.raises(UserError, match=r"layers must be of all networks, and they share none of a$"):
        quietly(named, before, SAMPLES, "?")
