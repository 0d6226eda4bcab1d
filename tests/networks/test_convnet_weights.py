"""Weights of convolutional networks: what is read, what is refused, and what rescaling scales."""

import hashlib
import pickle

import pytest
import torch

from carryover.errors import UserError
from carryover.networks.convnet import VGG11, ResNet18
from carryover.networks.convnet_weights import KINDS, load_weights, rescale_state

NETWORKS = pytest.mark.parametrize("kind", [ResNet18, VGG11])


def build(kind=ResNet18, seed=0, classes=3):
    return kind(torch.Generator().manual_seed(seed), classes, 1, "small", 1)


def saved(folder, state):
    torch.save(state, folder / "weights.pth")
    return folder / "weights.pth"


def copied(network):
    return {name: tensor.clone() for name, tensor in network.state_dict().items()}


def same(network, state):
    return all(torch.equal(tensor, state[name]) for name, tensor in network.state_dict().items())


@NETWORKS
def test_saved_weights_come_back(kind, tmp_path):
    """The number of batches may be missing: it stays what it was."""
    source, network = build(kind), build(kind, seed=1)
    source(torch.randn(4, 1, 8, 8))  # so that the buffers are not those of the start
    state = {name: tensor for name, tensor in source.state_dict().items() if "num_batches" not in name}
    own = {name: tensor for name, tensor in copied(network).items() if "num_batches" in name}
    for known in (state, source.state_dict()):
        load_weights(network, saved(tmp_path, known))
        assert same(network, own | known)


@NETWORKS
@pytest.mark.parametrize("removed", [True, False])
def test_another_number_of_classes_keeps_the_last_layer(kind, removed, tmp_path):
    source, network = build(kind, classes=7), build(kind, seed=1)
    own, last = copied(network), [f"{network.READOUT}.weight", f"{network.READOUT}.bias"]
    state = {name: tensor for name, tensor in copied(source).items() if not removed or name not in last}
    path = saved(tmp_path, state)
    with pytest.raises(UserError, match=rf"{last[0]}.*the same width, stem, channels and classes"):
        load_weights(network, path)
    assert same(network, own)
    load_weights(network, path, classes_differ=True)
    assert same(network, state | {name: own[name] for name in last})


def test_the_checksum_in_the_name_is_that_of_the_file(tmp_path):
    path = saved(tmp_path, build().state_dict())
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    right, wrong = tmp_path / f"resnet18-{digest[:8]}.pth", tmp_path / "resnet18-f37072fd.pth"
    load_weights(build(seed=1), path.rename(right))
    with pytest.raises(UserError, match=rf"resnet18-f37072fd\.pth has the SHA-256 {digest}, not f37072fd"):
        load_weights(build(), right.rename(wrong))


CONV = "layer1.0.conv2.weight"


def without(state, *names):
    return {name: tensor for name, tensor in state.items() if name not in names}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda state: without(state, CONV, "fc.bias"), rf"lacks '{CONV}', in this ResNet18 of the shape"),
        (lambda state: state | {CONV: state[CONV][:, :, 1:]}, r"of the shape \(1, 1, 2, 3\), in this ResNet18"),
        (lambda state: state | {CONV: torch.inf * state[CONV]}, rf"has '{CONV}' with values that are not finite"),
        (lambda state: state | {"more": state[CONV]}, r"has 'more', which ResNet18 has not"),
        (lambda state: state | {CONV: state[CONV].tolist()}, r"cannot be read safely as PyTorch weights"),
        (lambda state: [state], r"cannot be read safely as PyTorch weights"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_and_changes_nothing(change, message, tmp_path):
    network = build(seed=1)
    before = copied(network)
    path = saved(tmp_path, change(copied(build())))
    with pytest.raises(UserError, match=message) as refusal:
        load_weights(network, path)
    assert str(refusal.value).startswith(str(path))
    assert same(network, before)


class Bomb:
    def __reduce__(self):
        return (pytest.fail, ("the file was run",))


@pytest.mark.parametrize(
    "write",
    [
        lambda path: torch.save({"conv1.weight": Bomb()}, path),
        lambda path: path.write_bytes(pickle.dumps({"conv1.weight": Bomb()})),
        lambda path: path.write_bytes(path.read_bytes()[:-100]),
        lambda path: path.write_text("<html>not found</html>"),
    ],
)
def test_files_that_are_missing_or_damaged_or_would_run_code_are_refused(write, tmp_path):
    path = tmp_path / "weights.pth"
    with pytest.raises(UserError, match=r"weights\.pth cannot be read \(No such file or directory\): give a file"):
        load_weights(build(), path)
    write(saved(tmp_path, build().state_dict()))
    with pytest.raises(UserError, match=r"weights\.pth cannot be read safely as PyTorch weights"):
        load_weights(build(), path)


BUFFERS = ("running_mean", "running_var", "num_batches_tracked")


@NETWORKS
@pytest.mark.parametrize("which", KINDS)
def test_what_rescaling_scales(kind, which):
    network = build(kind)
    norms = tuple(name for name, module in network.named_modules() if isinstance(module, torch.nn.BatchNorm2d))
    state, before = network.state_dict(), copied(network)
    found = rescale_state(state, 0.5, which)
    assert list(found) == list(before)
    for name, tensor in before.items():
        normalises = name.rpartition(".")[0] in norms
        kept = name.endswith(BUFFERS) or (which == "weights" and normalises)
        kept |= which == "readout" and not name.startswith(kind.READOUT)
        assert torch.equal(found[name], tensor if kept else tensor / 2), name
        assert found[name].dtype == tensor.dtype
        assert not found[name].requires_grad
        assert found[name].data_ptr() != state[name].data_ptr()
    assert same(network, before)
    assert len(norms) == (20 if kind is ResNet18 else 0)
