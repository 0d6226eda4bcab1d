"""What is recorded is what the module computes, by the names that it has; and the module is left as it was."""

from collections import namedtuple

import netCDF4
import numpy as np
import pytest
import torch
from torch import nn

from carryover.diagnosis.modules import submodules
from carryover.diagnosis.recording import record
from carryover.errors import UserError
from toy.recorded import Says, adapted, numbers, seen, small


def network():
    torch.manual_seed(0)
    parts = [nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Dropout(0.5), nn.Linear(144, 5)]
    return nn.Sequential(*parts)


def images(count=50):
    return torch.randn(count, 3, 8, 8, generator=torch.Generator().manual_seed(1))


def test_what_is_recorded_is_what_the_module_computes(tmp_path):
    net, x = network(), images()
    net[1].eval()  # a mode of its own
    state = {name: value.clone() for name, value in net.state_dict().items()}
    with record(net, ["2", "5", "2"], tmp_path / "a.nc") as see:
        outputs = [see(batch) for batch in x.split(16)]
    assert [part.training for part in net] == [True, False, True, True, True, True]
    assert not any(part._forward_hooks for part in net)
    assert all(torch.equal(value, state[name]) for name, value in net.state_dict().items())
    net.eval()
    with netCDF4.Dataset(tmp_path / "a.nc") as file, torch.no_grad():
        assert list(file.variables) == ["2", "5"]
        np.testing.assert_allclose(file["5"][:], net(x).numpy(), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(file["2"][:], net[:3](x).flatten(1).numpy(), rtol=1e-5, atol=1e-6)
        np.testing.assert_array_equal(file["5"][:], torch.cat(outputs).numpy())
        assert {file[name].units for name in file.variables} == {"1"}


def test_what_is_done_in_place_afterwards_is_not_recorded():
    net, x = nn.Sequential(nn.Linear(6, 5), nn.ReLU(inplace=True)), numbers(8, 6)
    expected = net[0](x).detach()
    assert (expected < 0).any()
    np.testing.assert_allclose(seen(net, "0", x)["0"], expected, rtol=1e-5, atol=1e-6)


def test_an_error_leaves_the_module_and_no_file(tmp_path):
    net = network()
    with pytest.raises(KeyboardInterrupt), record(net, ["2"], tmp_path / "a.nc") as see:  # noqa: PT012
        see(images())
        raise KeyboardInterrupt
    assert net.training
    assert not net[2]._forward_hooks
    assert list(tmp_path.iterdir()) == []


Pair = namedtuple("Pair", ["left", "right"])


def test_entries_are_what_the_module_gives():
    x = numbers(7, 4)
    for make, entry in (
        (lambda x: (x, 2 * x), "1"),
        (lambda x: {"a": x, "last": 2 * x}, "last"),
        (lambda x: Pair(x, 2 * x), "right"),
        (lambda x: (x, (x, 2 * x)), "1.1"),
    ):
        np.testing.assert_array_equal(seen(Says(make), f"part:{entry}", x)[f"part:{entry}"], 2 * x)
    for make in (lambda x: (x, None), lambda x: {"out": x, "loss": 0.5}):  # the only tensor needs no name
        np.testing.assert_array_equal(seen(Says(make), "part", x)["part"], x)


def test_reductions_of_tokens_and_places():
    tokens, images = numbers(5, 7, 4), numbers(5, 4, 3, 2)
    for made, reduce, axis, expected in (
        (tokens, "mean", -1, tokens.mean(1)),
        (tokens, "mean", 1, tokens.mean(2)),
        (tokens, "first", None, tokens[:, 0]),
        (tokens, "last", None, tokens[:, -1]),
        (tokens, "flatten", None, tokens.flatten(1)),
        (tokens, lambda x: x[:, -1], None, tokens[:, -1]),
        (images, "mean", 1, images.mean((2, 3))),
        (images, "mean", 2, images.mean((1, 3))),
        (images[:, :, 0, 0], "mean", None, images[:, :, 0, 0]),
        (images[:, :, 0, 0], "first", None, images[:, :, 0, 0]),
    ):
        found = seen(Says(lambda x: x), "part", made, reduce=reduce, channel_axis=axis)["part"]
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)
    with pytest.raises(UserError, match=r"part is \(5, 7, 4\), and nothing tells which axis has the channels: say"):
        seen(Says(lambda x: x), "part", tokens, reduce="mean")
    for axis, fault in ((3, "no axis of part, which has 3 axes"), (-4, "no axis of part"), (0, "the batch of part")):
        with pytest.raises(UserError, match=f"channel_axis={axis} is {fault}"):
            seen(Says(lambda x: x), "part", tokens, channel_axis=axis)
    first = seen(Says(lambda x: x), "part", tokens.transpose(0, 1), reduce="mean", batch_axis=1, channel_axis=0)["part"]
    np.testing.assert_allclose(first, tokens.mean(2), rtol=1e-4, atol=1e-6)  # channels before the batch


class Moves(nn.Module):
    """Brings channels to the end, as some layers of convolutional networks do."""

    def forward(self, x):
        return x.movedim(1, -1)


class LayerNorm2d(nn.LayerNorm):
    """Of channels that come first, as torchvision and timm have it."""

    def forward(self, x):
        return super().forward(x.movedim(1, -1)).movedim(-1, 1)


def test_channels_are_followed_from_layers_that_have_them():
    images, sound = numbers(5, 3, 16, 16), numbers(5, 1, 64)
    first = [nn.Conv2d(3, 12, 3, stride=2), LayerNorm2d(12), nn.GELU()]
    for parts, x, axes in (
        ([*first, nn.Sequential(nn.Identity(), nn.ReLU())], images, [1, 1, 1, 1]),
        ([*first, Moves(), nn.Linear(12, 9), nn.ReLU()], images, [1, 1, 1, -1, -1, -1]),
        ([nn.Conv1d(1, 8, 5), nn.ReLU(), nn.Flatten(1, 1)], sound, [1, 1, 1]),
        ([nn.Conv2d(3, 7, 1), nn.Tanh(), nn.Conv2d(7, 16, 1), nn.ReLU()], images, [1, 1, 1, 1]),  # as many as places
    ):
        net = nn.Sequential(*parts)
        found = seen(net, [*map(str, range(len(parts)))], x, reduce="mean")
        for place, axis in enumerate(axes):
            given = net[: place + 1](x).detach().movedim(axis, -1)
            expected = given.flatten(1, -2).mean(1)
            np.testing.assert_allclose(found[str(place)], expected, rtol=1e-3, atol=1e-5, err_msg=str((net, place)))
    same = nn.Sequential(nn.Conv2d(3, 16, 1), Moves(), nn.ReLU())  # as many channels as places, and moved
    with pytest.raises(UserError, match=r"2 is \(5, 16, 16, 16\), and nothing tells"):
        seen(same, "2", images, reduce="mean")


def test_padding_does_not_count_whatever_it_holds():
    tokens, lengths = numbers(5, 7, 4), torch.tensor([7, 1, 3, 5, 2])
    mask = (torch.arange(7) < lengths[:, None]).long()
    tokens[~mask.bool()] = float("nan")
    expected = torch.stack([row[:length].mean(0) for row, length in zip(tokens, lengths, strict=True)])
    net = Says(lambda x: x)
    for told in ({"attention_mask": mask}, {"token_mask": mask}):
        np.testing.assert_allclose(seen(net, "part", tokens, reduce="mean", **told)["part"], expected, rtol=1e-5)
    left = tokens.flip(1)  # padded on the left
    found = seen(net, "part", left, reduce="first", token_mask=mask.flip(1))["part"]
    np.testing.assert_array_equal(found, torch.stack([row[n - 1] for row, n in zip(tokens, lengths, strict=True)]))
    found = seen(net, "part", tokens, reduce="last", token_mask=mask)["part"]
    np.testing.assert_array_equal(found, torch.stack([row[n - 1] for row, n in zip(tokens, lengths, strict=True)]))
    with pytest.raises(UserError, match=r"part is \(5, 7, 4\), and the mask of tokens \(5, 6\) does not fit it"):
        seen(net, "part", tokens, reduce="mean", token_mask=mask[:, :6])
    with pytest.raises(UserError, match="the mask leaves no token of sample 0 of the batch"):
        seen(net, "part", tokens, reduce="mean", token_mask=0 * mask)


class Encoder(nn.Module):
    """Brings images to tokens, which its encoder has first."""

    def __init__(self, inside=True):
        super().__init__()
        torch.manual_seed(0)
        self.inside, self.embed = inside, nn.Linear(4, 8)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2, enable_nested_tensor=False)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        x = self.embed(x.transpose(0, 1) if self.inside else x)
        return self.head(self.encoder(x).mean(0))


def test_tokens_are_not_taken_for_samples():
    x = numbers(11, 3, 4)
    sentence = (
        r"{} must have the batch along axis 0, and has 3 there for 11 samples, of its shape \(3, 11, 8\): say batch"
    )
    for name in ("encoder", "encoder.layers.0", "encoder.layers.1.linear1", "embed"):
        with pytest.raises(UserError, match=sentence.format(name).replace("8", "(8|16)")):
            seen(Encoder(), name, x)
        found = seen(Encoder(), name, x, batch_axis=1, reduce="mean")[name]
        assert found.shape[0] == 11
        for net in (Encoder(inside=False), Encoder()):  # as many tokens as samples, or tokens first in the inputs, too
            same = numbers(3, 11, 4) if not net.inside else numbers(3, 3, 4)
            with pytest.raises(UserError, match=r"may have tokens along axis 0, .*: say batch_axis=1, or batch_axis=0"):
                seen(net, name, same)
    expected = Encoder().eval()
    expected = expected.encoder(expected.embed(x.transpose(0, 1))).mean(0).detach()
    found = seen(Encoder(inside=False), "encoder", x.transpose(0, 1), batch_axis=1, reduce="mean")["encoder"]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    assert seen(Encoder(), "head", x)["head"].shape == (11, 3)


def test_a_module_that_may_leave_submodules_out_does_not():
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    net, x = nn.TransformerEncoder(layer, 1, enable_nested_tensor=True).eval(), numbers(5, 3, 8)
    padding = torch.tensor([[False, False, True]] * 5)
    with record(net, ["layers.0.linear1", "layers.0"], reduce="mean") as see:
        see(x, src_key_padding_mask=padding, token_mask=~padding)
    assert see.recording["layers.0.linear1"].shape == (5, 16)
    assert torch.backends.mha.get_fastpath_enabled()


def test_what_is_not_finite_is_named_with_sample_and_call():
    x = numbers(6, 4)
    y = torch.where(torch.arange(6)[:, None] == 2, torch.inf, x)
    said = r"part must be finite .* for sample 8, which is number 3 of its batch"
    with record(Says(lambda x: x), "part") as see:
        see(x)
        with pytest.raises(UserError, match=said):
            see(y)


@pytest.mark.parametrize(("net", "sample"), [
    (nn.Sequential(nn.Linear(4, 4), nn.ReLU()), torch.ones(4)),
    (nn.Sequential(nn.Conv2d(3, 3, 3, padding=1), nn.ReLU()), torch.ones(3, 5, 5)),
])  # fmt: skip
def test_single_samples_do_not_pass_for_batches_of_their_first_axis(net, sample):
    with record(net, "*") as see:
        with pytest.raises(UserError, match=r"0 gets samples one by one.* batch_size"):
            see(sample)
        see(sample[None])
    assert [len(values) for values in see.recording.values()] == [1, 1]


def test_one_name_several_and_patterns_in_torchs_order():
    net, x = small(), numbers(9, 6)
    assert list(seen(net, "0.1", x)) == ["0.1"]
    assert list(seen(net, ["1", "0.0.*", "1"], x)) == ["1", "0.0.0", "0.0.1"]
    assert list(seen(net, "*", x)) == [name for name, _ in net.named_modules() if name]  # the star crosses dots
    np.testing.assert_allclose(seen(net, "0.[01]", x)["0.1"], net[0](x).detach(), rtol=1e-6)
    with pytest.raises(UserError, match=r"none is like block\*; close are: 0, 0\.0, 0\.0\.0, 0\.0\.1, 0\.1$"):
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
    with pytest.warns(UserWarning, match=r"left out .*; lstm gives a tuple.*twice was 2 times") as said:
        found = seen(Odd(), "*", x)
    assert "position must have the batch along axis 0, and has 3 there for 7 samples" in str(said[0].message)
    assert list(found) == ["fc", "holder.0"]
    assert list(seen(Odd(), ["fc", "lstm:0"], x)) == ["fc", "lstm:0"]


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
