"""One call gives what recordings diagnosed one by one give, whatever the batches are, and leaves the networks alone."""

import copy
import random
from collections import UserDict
from contextlib import contextmanager

import numpy as np
import pytest
import torch
import xarray as xr
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from carryover.diagnosis import comparison
from carryover.diagnosis.comparison import compare
from carryover.diagnosis.diagnosis import Parameters, diagnose
from carryover.diagnosis.networks import reinitialise, renew_statistics
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

    def note(*sides, **how):
        calls.append((*sides, how))
        return xr.Dataset(coords={"layer": how["layers"]})

    monkeypatch.setattr(comparison, "diagnose", note)
    return calls


def quietly(*networks, **told):
    return compare(*networks, **{"progress": False, "baseline": None} | told)


def test_it_is_the_diagnosis_of_the_recordings():
    before, after = small(), changed(small())
    expected = diagnose(seen(before, "0*", SAMPLES), seen(after, "0*", SAMPLES), p=Parameters(confidence=0.9))
    found = quietly(before, after, SAMPLES, "0*", p=Parameters(confidence=0.9))
    xr.testing.assert_allclose(found[list(expected)], expected, rtol=1e-5)
    assert quietly(before, after, SAMPLES, "0.1")["layer"].item() == "0.1"


def labelled(batches):
    return [(x, (x[:, 0] > 0).long()) for x in batches]


def test_the_loaders_labels_are_probed_and_the_headline_says_which_parameters_differ():
    before, after = small(), changed(small())
    found = quietly(before, after, labelled(SAMPLES.split(100)), "0.0.0")
    expected = quietly(before, after, SAMPLES, "0.0.0", labels=(SAMPLES[:, 0] > 0).numpy())
    xr.testing.assert_identical(found, expected)
    assert found["task_before"].item() > 0.8
    assert "All 6 parameters differ." in found.headline
    assert found["weight_rank"].item() > 1
    assert "task" not in quietly(before, after, [(SAMPLES, torch.arange(300))], "0.0.0")  # numbers of the samples
    assert "task" not in quietly(before, after, labelled(SAMPLES.split(100)), "0.0.0", labels=None)


class WithAdapter(nn.Module):
    """As PEFT's models: an adapted layer, and a context in which it is off."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.layer, self.down, self.up, self.on = nn.Linear(6, 8), nn.Linear(6, 1), nn.Linear(1, 8), True

    @contextmanager
    def disable_adapter(self):
        self.on = False
        yield
        self.on = True

    def forward(self, x):
        return self.layer(x) + 2 * self.on * self.up(self.down(x).tanh())


def test_one_model_is_compared_without_and_with_its_adapter():
    net = nn.ModuleDict({"body": WithAdapter()})
    net.disable_adapter = net["body"].disable_adapter
    how = {"adapter": True, "call": lambda one, batch: one["body"](batch)}
    found = quietly(net, None, SAMPLES, "body", **how)
    plain = net["body"].layer(SAMPLES).detach()
    xr.testing.assert_allclose(
        found["cka"], diagnose({"body": plain}, {"body": net["body"](SAMPLES).detach()})["cka"], rtol=1e-4
    )
    assert found["cka"].item() < 0.99
    with pytest.raises(UserError, match=r"adapter=True takes one model whose adapter can be switched off .*got Sequ"):
        quietly(small(), None, SAMPLES, "1", adapter=True)

    def fail():  # as PEFT does for adapters that add tokens to a network that generates nothing
        raise UnboundLocalError("no value")

    net.disable_adapter = fail
    with pytest.raises(UserError, match=r"the adapter cannot be switched off \(no value\): compare with a copy"):
        quietly(net, None, SAMPLES, "1", **how)
    with pytest.raises(UserError, match="and no other, got ModuleDict and Sequential"):
        quietly(net, small(), SAMPLES, "body", **how)


def test_the_baseline_of_a_deep_network_with_normalisation_varies():
    """Its statistics of normalisation are those of its own responses, and the layers vary as in training mode."""
    torch.manual_seed(0)
    blocks = [part for _ in range(20) for part in (nn.Linear(30, 30), nn.BatchNorm1d(30), nn.ReLU())]
    net = nn.Sequential(*blocks)
    x = numbers(512, 30)
    with torch.no_grad():
        for layer in blocks[1::3]:
            layer.momentum = 1.0
        net.train()(x)
    stale, made = reinitialise(net, 3).eval(), reinitialise(net, 3)
    renew_statistics(made, made, x.split(256))
    assert stale(x).std(0).max() < 1e-3
    expected = torch.cat([reinitialise(net, 3).train()(half) for half in x.split(256)])
    np.testing.assert_allclose(made.eval()(x).std(0).detach(), expected.std(0).detach(), rtol=0.3, atol=0.05)
    found = compare(net, changed(net, 0.01), x, "59", progress=False)
    assert found["inherited_reference"].item() < 0.9


def test_samples_of_one_name_are_left_out_together():
    """Crops of a few images: a wide layer predicts another's from the image's other crops, unless they are left out."""
    rng = np.random.default_rng(0)
    names = np.repeat(np.arange(150), 10)
    old, new = ((rng.standard_normal((150, 120))[names] + 0.1 * rng.standard_normal((1500, 120))) for _ in range(2))
    alone, grouped = diagnose(old, new), diagnose({"layer": old, "id": names}, {"layer": new, "id": names})
    assert alone["inherited_r2"].item() > 0.5
    assert grouped["inherited_r2"].item() < 0.1
    assert grouped["groups"].item() == 150
    assert grouped["regime"].item() == "undecided"
    with pytest.raises(UserError, match="20 different samples or more are needed, got 3"):
        quietly(small(), small(), SAMPLES, "1", sample_id=np.arange(300) % 3)
    with pytest.raises(UserError, match="before must name all of its 300 samples, but names 3"):
        quietly(small(), small(), SAMPLES, "1", sample_id=[1, 2, 3])


def test_a_loader_of_single_samples_is_told():
    loader = DataLoader(TensorDataset(SAMPLES, SAMPLES[:, 0] > 0), batch_size=None)
    with pytest.raises(UserError, match=r"loader gives samples one by one, .* batch_size"):
        quietly(small(), small(), loader, baseline="reinitialised")


def test_all_networks_see_the_same_batches_of_a_loader_that_shuffles(given):
    before, after = small(), changed(small())
    loader = DataLoader(
        TensorDataset(SAMPLES, torch.arange(300)),
        batch_size=64,
        shuffle=True,
        generator=torch.Generator().manual_seed(0),
    )
    compare(before, after, loader, ["0.0.0", "1"], samples=250, baseline="reinitialised", seed=3, progress=False)
    old, new, told = given[0]
    assert old["1"].shape == (250, 3)
    order = np.abs(seen(before, "0.0.0", SAMPLES)["0.0.0"][:, None] - old["0.0.0"]).sum(2).argmin(0)
    assert (np.diff(order) < 0).any()
    np.testing.assert_allclose(new["1"], seen(after, "1", SAMPLES[order])["1"], rtol=1e-5, atol=1e-6)
    fresh = seen(reinitialise(before, 3), "1", SAMPLES[order])["1"]
    np.testing.assert_allclose(told["baseline"]["1"], fresh, rtol=1e-5, atol=1e-6)
    assert told["layers"] == ["0.0.0", "1"]


class Reader(nn.Module):
    """Takes inputs by name, as HuggingFace's models do, and labels."""

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
    assert before.labelled == after.labelled == [False] * 3
    with torch.no_grad():
        hidden = before.body(before.embed(IDS))
    expected = torch.stack([one[:length].mean(0) for one, length in zip(hidden, LENGTHS, strict=True)])
    for side in given[0][:2]:
        np.testing.assert_allclose(side["body"], expected, rtol=1e-4, atol=1e-6)


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


def state():
    return torch.get_rng_state(), random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002


def test_networks_gradients_and_random_numbers_are_left_as_they_were(given):
    before = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Dropout(), nn.ReLU(), nn.Linear(8, 3))
    before[2].eval()
    before[0].weight.grad = torch.ones(8, 6)
    before[3].register_forward_hook(lambda *told: None)
    after = copy.deepcopy(before)
    values = {name: value.clone() for name, value in before.state_dict().items()}
    modes, hooks = [one.training for one in before.modules()], [len(one._forward_hooks) for one in before.modules()]
    numbers_before = state()
    loader = DataLoader(TensorDataset(SAMPLES), batch_size=50, shuffle=True, generator=torch.Generator().manual_seed(0))
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
    with pytest.raises(UserError, match=r"names must be submodules, and none is like 0\.2; close are"):
        quietly(before, after, SAMPLES, "0.2")
    named = nn.Sequential()
    named.add_module("a", nn.ReLU())
    with pytest.raises(UserError, match=r"layers must be of all networks, and they share none of a$"):
        quietly(named, before, SAMPLES, "?")
