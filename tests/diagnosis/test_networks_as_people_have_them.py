"""Networks, loaders and layers as people have them: what is left as it was, refused, or said."""

import copy
import warnings

import numpy as np
import pytest
import torch
import xarray as xr
from safetensors.torch import save_file
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
        self.encoder, self.decoder, self.head = nn.Embedding(9, 8), nn.Embedding(9, 8), nn.Linear(8, 4)

    def forward(self, ids, decoder_ids, attention_mask, decoder_attention_mask):
        return self.encoder(ids), self.head(self.decoder(decoder_ids))


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
    found = seen(network, "head", ids, ids, reduce="mean", **given)["head"]  # what follows both sees the decoder's
    expected = network.head(network.decoder(ids[:, :2])).mean(1).detach()
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)
    with pytest.raises(UserError, match=r"mask of tokens \(40, 4\) does not fit"):
        seen(network, "encoder", ids, ids, reduce="mean", token_mask=torch.ones(40, 4), **given)
    others = {"decoder_ids": ids, "attention_mask": given["decoder_attention_mask"], "decoder_attention_mask": None}
    found = seen(network, "decoder", ids, reduce="mean", **others)["decoder"]  # no mask came with its sequence
    np.testing.assert_allclose(found, weights[ids].mean(1), rtol=1e-4, atol=1e-6)


class Captioned(nn.Module):
    """A network of text and images, with as many parts of an image as words."""

    def __init__(self):
        super().__init__()
        self.text_model, self.vision_model = nn.Embedding(9, 8), nn.Linear(16, 8)

    def forward(self, input_ids, pixel_values, attention_mask):
        return self.text_model(input_ids), self.vision_model(pixel_values.flatten(2))


def test_a_mask_of_words_does_not_count_for_parts_of_an_image():
    network, ids, pixels = Captioned(), torch.randint(1, 9, (40, 5)), torch.randn(40, 5, 4, 4)
    mask = (torch.arange(5) < 2).long().repeat(40, 1)
    found = seen(network, ["text_model", "vision_model"], ids, pixels, reduce="mean", attention_mask=mask)
    for name, expected in (
        ("text_model", network.text_model(ids[:, :2])), ("vision_model", network.vision_model(pixels.flatten(2)))
    ):  # fmt: skip
        np.testing.assert_allclose(found[name], expected.mean(1).detach(), rtol=1e-4, atol=1e-6)


X = torch.randn(60, 16, generator=torch.Generator().manual_seed(0))
with warnings.catch_warnings(action="ignore"):  # these types are deprecated, or not yet stable
    QUANTISED, ROWS = torch.quantize_per_tensor(X, 1 / 16, 0, torch.qint8), X.relu().to_sparse_csr()
    RAGGED = torch.nested.nested_tensor([X, X[:9]])


@pytest.mark.parametrize(
    ("given", "numbers"),
    [(X.bfloat16(), X.bfloat16().float()), (X.to(torch.float8_e5m2), X.to(torch.float8_e5m2).float()),
     (QUANTISED, QUANTISED.dequantize()), (X.relu().to_sparse(), X.relu()), (ROWS, X.relu()),
     (1e300 * X.double(), X), (1e-300 * X.double(), X)],
    ids=["bfloat16", "float8", "quantised", "sparse", "rows", "huge", "tiny"],
)  # fmt: skip
def test_numbers_of_every_type_and_size_are_read(given, numbers, tmp_path):
    rest = X[:, :9]
    expected = diagnose({"a": numbers}, {"a": rest}, labels=numbers)
    xr.testing.assert_allclose(diagnose({"a": given}, {"a": rest}, labels=given), expected, rtol=1e-4)
    if not given.is_quantized and given.layout == torch.strided:
        save_file({"a": given}, tmp_path / "given.safetensors")
        found = diagnose(tmp_path / "given.safetensors", {"a": rest}, labels=given)
        xr.testing.assert_allclose(found, expected, rtol=1e-4)


@pytest.mark.parametrize("given", [X.to("meta"), nn.parameter.UninitializedParameter(), RAGGED, [[1], [1, 2]] * 30])
def test_what_has_no_numbers_is_said(given):
    for sides, labels in (((X, X), given), (({"a": given}, {"a": X}), None)):
        with pytest.raises(UserError, match=r"has no numbers|rows of one length"):
            diagnose(*sides, labels=labels)


class Named(nn.Module):
    def __init__(self, name="part"):
        super().__init__()
        self.name = name
        self.add_module(name, nn.Linear(16, 16))

    def forward(self, x, mask=None):
        return getattr(self, self.name)(x)


class Losing(Named):
    """It cannot be called without labels, and its head has 16 classes."""

    def forward(self, x, labels):
        return nn.functional.cross_entropy(self.part(x), labels)


def compared(network, batch=X, **how):
    return compare(network, copy.deepcopy(network), [batch], progress=False, **how)


@pytest.mark.parametrize(
    ("make", "batch", "said"),
    [(lambda: nn.Sequential(nn.LazyLinear(4)), X, r"parameters without numbers \(0.weight\)"),
     (lambda: Named().to("meta"), X, r"parameters without numbers \(part.weight\)"),
     (lambda: torch.jit.script(nn.Sequential(nn.Linear(16, 4))), X, "before is a TorchScript module"),
     (Named, X.to("meta"), "batches must have numbers"),
     (Named, {"image": X, "label": X[:, 0]}, "batches have image, label, and Named takes x, mask: name what it takes"),
     (Named, {"mask": X}, "batches have mask, and Named takes x, mask"),
     (Named, X.long(), "cannot be called with numbers of these types: .*Long"),
     (lambda: nn.Sequential(Named(), Named().double()), X, "cannot be called with numbers of these types: .*Double"),
     (lambda: nn.Sequential(nn.Flatten()).append(Named()), X.to_sparse(), r"with sparse tensors, give to_dense\(\)"),
     (Losing, {"x": X, "labels": torch.arange(60)}, "needs labels, and its head lacks a class of them .*say call="),
     (lambda: Named("sample_id"), X, "a layer called sample_id cannot be recorded")],
    ids=["lazy", "meta", "script", "meta batch", "keys", "lacking", "whole", "mixed", "sparse", "head", "sample_id"],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:.*deprecated")
def test_what_cannot_be_compared_is_said_in_one_sentence(make, batch, said):
    with pytest.raises(UserError, match=said):
        compared(make(), batch)
    with pytest.raises(UserError, match="labels must be 'loader', one for each sample, or None, got 'mine'"):
        compared(Named(), labels="mine")


@pytest.mark.filterwarnings("ignore:.*deprecated")
def test_inputs_take_the_networks_type_and_a_layer_may_be_called_id():
    for network, batch in ((Named(), X.double()), (Named().bfloat16(), X), (Named("id"), {"x": X, "index": X})):
        assert compared(network, batch)["cka"].item() == pytest.approx(1)
    small = torch.ao.quantization.quantize_dynamic(Named(), {nn.Linear})
    assert "no parameters that can be compared" in compared(small, baseline=None).headline


def layers(*parts):
    return nn.Sequential(*(nn.Sequential(part, nn.ReLU()) for part in parts))


def test_the_baseline_is_not_the_network_itself_before_it_was_trained():
    torch.manual_seed(0)
    before = nn.Sequential(nn.Linear(16, 24), nn.ReLU(), nn.Linear(24, 24))
    after = copy.deepcopy(before)
    for values in (after[2].weight, after[2].bias):
        values.data[:12] = 0
    assert compare(before, after, torch.randn(2000, 16), layers="2", progress=False)["regime"].item() == "select"


def test_a_dead_layer_has_lost_the_task_and_one_that_woke_has_added_it():
    torch.manual_seed(0)
    alive, samples = layers(nn.Linear(16, 64), nn.Linear(64, 64)), torch.randn(2000, 16)
    dead = copy.deepcopy(alive)
    dead[1][0].bias.data -= 1000
    loader = [(samples, samples[:, 0] > 0)]
    for before, after, word in ((alive, dead, "lost"), (dead, alive, "added")):
        found = compare(before, after, loader, layers=["0", "1"], baseline=None, progress=False)
        assert found["task"].values.tolist() == ["there before", word]
        assert found["regime"].values[1] == "constant"


def test_a_class_that_is_lost_among_many_is_told_and_labels_are_what_they_look_like():
    rng = np.random.default_rng(0)
    classes, X = rng.integers(0, 30, 6000), rng.normal(size=(6000, 40))
    before, after = X.copy(), X.copy()
    before[:, :30] += 8 * np.eye(30)[classes]
    after[:, :30] += 8 * np.eye(30)[np.where(classes == 29, 0, classes)]
    found = diagnose(before, after, labels=classes)
    assert "there before, but of its classes 2 can no longer" in found.headline
    assert diagnose(before, before, labels=(classes == 0).astype(float))["task_chance"] == 0.5
    assert diagnose(X, X, labels=np.column_stack([X[:, 0], X[:, 1] * 0]))["task"] == "there before"
    with pytest.raises(UserError, match="not of tokens"):
        diagnose(before, before, labels=rng.integers(0, 50, (6000, 7)))


class Packed(Named):
    def forward(self, x, lengths=None):
        return super().forward(x)


def test_entries_of_a_batch_that_may_be_inputs_or_labels_are_asked_about():
    with pytest.raises(UserError, match="batches have 3 entries, of which lengths may be one that the network takes"):
        compared(Packed(), (X, torch.arange(60), X[:, 0] > 0))
    assert "No probe reads target of the batches" in compared(Named(), {"x": X, "target": X[:, 0]}).headline


@pytest.mark.parametrize("norm", [nn.LayerNorm([16, 7]), nn.LayerNorm(7), nn.Linear(7, 5)])
def test_channels_before_places_stay_there_in_layers_over_places(norm):
    network = nn.Sequential(nn.Conv1d(3, 16, 2), norm, nn.ReLU())
    x = torch.randn(40, 3, 8)
    for name, channels in seen(network, ["0", "1", "2"], x, reduce="mean").items():
        np.testing.assert_allclose(channels, network[: int(name) + 1](x).mean(2).detach(), rtol=1e-3, atol=1e-5)
