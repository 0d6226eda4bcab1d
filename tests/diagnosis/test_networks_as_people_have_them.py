"""Networks, loaders and layers as people have them: what is left as it was, refused, or said."""

import copy

import numpy as np
import pytest
import torch
from torch import nn

from carryover.diagnosis.comparison import compare
from carryover.diagnosis.diagnosis import diagnose
from carryover.diagnosis.recording import record
from carryover.errors import UserError
from toy.recorded import seen


class Caching(nn.Module):
    """Keeps a tensor of its first forward pass, and counts passes."""

    def __init__(self):
        super().__init__()
        self.linear, self.factors = nn.Linear(16, 16), None
        self.register_buffer("passes", torch.zeros(1))

    def forward(self, x, labels=None):
        if self.factors is None:
            self.factors = torch.cos(torch.arange(16.0))
        self.passes += 1
        if labels is not None:
            nn.functional.cross_entropy(self.linear(x)[:, :2], labels)
        return self.linear(x) * self.factors


def test_training_goes_on_after_a_network_was_recorded():
    network = nn.Sequential(Caching())
    with record(network, ["0"]) as see:
        see(torch.randn(30, 16))
    assert network[0].passes == 0
    network(torch.randn(30, 16)).sum().backward()


def test_networks_that_share_parameters_are_refused():
    network = nn.Sequential(nn.Linear(16, 16), nn.Linear(16, 2))
    for after in (network, nn.Sequential(network[0], nn.Linear(16, 2))):
        with pytest.raises(UserError, match=r"share parameters.*copy\.deepcopy.*adapter=True"):
            compare(network, after, torch.randn(30, 16), progress=False)


def test_a_layer_that_died_is_the_finding_and_others_are_compared():
    before = nn.Sequential(nn.Linear(16, 24), nn.ReLU(), nn.Linear(24, 3))
    after = copy.deepcopy(before)
    after[0].bias.data -= 100
    found = compare(before, after, torch.randn(300, 16), progress=False)
    assert found["regime"].values.tolist() == ["unchanged", "constant", "constant"]
    assert "constant in 2 (1, 2)" in found.headline
    found.plot()
    nearly = np.full((300, 2), 0.1, np.float32) + np.finfo(np.float32).eps * (np.arange(300) % 2)[:, None] / 16
    assert diagnose(np.random.default_rng(0).normal(size=(300, 2)), nearly.astype(np.float32))["regime"] == "constant"
    assert "constant in 1" in compare(before, after, torch.randn(300, 16), layers=["1"], progress=False).headline


CLASSES = torch.arange(300) % 3


@pytest.mark.parametrize(
    "labels", [CLASSES[:, None], CLASSES.numpy(), [*map(str, CLASSES.tolist())], torch.randn(300, 2), CLASSES > 0],
    ids=["column", "numpy", "text", "outputs", "truth"],
)  # fmt: skip
def test_labels_are_read_in_every_form_and_do_not_reach_the_head(labels):
    before = Caching()
    for batch in ((torch.randn(300, 16), labels), {"x": torch.randn(300, 16), "labels": labels}):
        found = compare(before, copy.deepcopy(before), [batch], layers=["linear"], progress=False)
        assert "a linear probe scores" in found.headline
    none = compare(
        before, copy.deepcopy(before), [(torch.randn(300, 16), ["a"] * 300)], layers=["linear"], progress=False
    )
    assert "No probe reads the loader's labels: labels must be of two classes or more" in none.headline


def test_complex_outputs_count_by_both_parts():
    rng = np.random.default_rng(0)
    before = rng.normal(size=(600, 8)) + 1j * rng.normal(size=(600, 8))
    assert diagnose(before, before.real + 0j)["regime"].item() == "select"

    class Complex(nn.Linear):
        def forward(self, x):
            return torch.complex(super().forward(x), x)

    network = nn.Sequential(Complex(16, 16))
    with record(network, ["0"]) as see:
        see(torch.randn(30, 16))
    assert see.recording["0"].shape == (30, 32)


class Drawing(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean, self.drawn = nn.Linear(16, 16), nn.Identity()

    def forward(self, x):
        mean = self.mean(x)
        return self.drawn(mean + torch.randn_like(mean))


def test_networks_that_draw_numbers_draw_the_same_ones():
    network = Drawing()
    found = compare(network, copy.deepcopy(network), torch.randn(600, 16), layers=["drawn"], progress=False)
    assert found["regime"].item() == "unchanged"


def test_samples_that_a_loader_repeats_are_held_out_together():
    samples = torch.randn(60, 16)
    labels = torch.randint(0, 2, (60,))  # nothing tells them
    network = nn.Sequential(nn.Linear(16, 64), nn.Tanh())
    found = compare(network, copy.deepcopy(network), [(samples, labels)] * 10, layers=["1"], progress=False)
    assert found["groups"].item() == 60
    assert found["task_before"].item() < 0.75


class Translator(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = nn.Embedding(9, 8), nn.Embedding(9, 8)

    def forward(self, ids, decoder_ids, attention_mask, decoder_attention_mask):
        return self.encoder(ids), self.decoder(decoder_ids)


def test_a_mask_belongs_to_its_sequence_and_padding_never_counts():
    network, ids = Translator(), torch.randint(1, 9, (40, 5))
    given = {"attention_mask": torch.ones(40, 5), "decoder_attention_mask": (torch.arange(5) < 2).float().repeat(40, 1)}
    recorded = {}
    for reduce in ("last", "flatten"):
        with record(network, ["encoder", "decoder"], reduce=reduce) as see:
            see(ids, ids, **given)
        recorded[reduce] = see.recording
    weights = network.decoder.weight.detach().numpy()
    np.testing.assert_array_equal(recorded["last"]["decoder"], weights[ids[:, 1]])
    np.testing.assert_array_equal(recorded["last"]["encoder"], network.encoder.weight.detach().numpy()[ids[:, 4]])
    assert (recorded["flatten"]["decoder"].reshape(40, 5, 8)[:, 2:] == 0).all()
    with pytest.raises(UserError, match=r"mask of tokens \(40, 4\) does not fit"):
        seen(network, "encoder", ids, ids, reduce="mean", token_mask=torch.ones(40, 4), **given)
    others = {"decoder_ids": ids, "attention_mask": given["decoder_attention_mask"], "decoder_attention_mask": None}
    found = seen(network, "decoder", ids, reduce="mean", **others)["decoder"]  # no mask came with its sequence
    np.testing.assert_allclose(found, weights[ids].mean(1), rtol=1e-5)
