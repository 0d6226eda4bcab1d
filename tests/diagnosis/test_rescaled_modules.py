"""A pretrained module as finetuning begins with it: what is loaded, what is multiplied, and what never is."""

import pytest
import torch
from torch import nn

from carryover.diagnosis.rescaling import choose_factor, load_rescaled, renew
from carryover.networks.convnet import VGG11, ResNet18
from carryover.networks.convnet_weights import KINDS, rescaled


def small(kind, seed=0, classes=3):
    if kind is ResNet18:
        return ResNet18(torch.Generator().manual_seed(seed), classes, 2, "small", 1)
    return VGG11(torch.Generator().manual_seed(seed), classes, 2, "imagenet", 1)


class Language(nn.Module):
    """Embeddings that the readout shares, indices that are buffers, and a place that is no layer's."""

    def __init__(self, seed=0, tied=True):
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            self.words = nn.Embedding(7, 4)
            self.token = nn.Parameter(torch.randn(1, 1, 4))
            self.scale = nn.Parameter(torch.ones(4))
            self.attention = nn.MultiheadAttention(4, 2)
            self.norm = nn.LayerNorm(4)
            self.normal = nn.utils.parametrizations.weight_norm(nn.Linear(4, 4))
            self.register_buffer("position_ids", torch.arange(5))
            self.register_buffer("mask", torch.ones(5))
            self.head = nn.Linear(4, 7, bias=False)
        if tied:
            self.head.weight = self.words.weight


@pytest.mark.parametrize("kind", [ResNet18, VGG11])
@pytest.mark.parametrize("which", KINDS)
def test_our_networks_are_rescaled_as_their_families_do(kind, which):
    state, network = small(kind, 1).state_dict(), small(kind, 2)
    load_rescaled(network, state, 0.3, which)
    for name, tensor in rescaled(state, 0.3, which).items():
        assert torch.equal(network.state_dict()[name], tensor), name


def ratios(which, head=None, tied=True):
    network, state = Language(1, tied), Language(2, tied).state_dict()
    load_rescaled(network, state, 0.5, which, head)
    found = network.state_dict()
    assert all(
        torch.equal(tensor * 0.5, found[name]) or torch.equal(tensor, found[name]) for name, tensor in state.items()
    )
    return {name for name, tensor in state.items() if not torch.equal(tensor, found[name])}, network


def test_buffers_are_loaded_and_never_multiplied_and_shared_weights_once():
    scaled, network = ratios("all")
    assert network.head.weight is network.words.weight
    assert torch.equal(network.words.weight, Language(2).words.weight / 2)
    assert scaled == {name for name, value in network.state_dict().items()} - {
        "position_ids",
        "mask",
        *(name for name, value in Language().state_dict().items() if not value.any()),  # biases that begin at 0
    }


def test_frozen_parameters_stay_as_they_are_and_are_told():
    network, state = Language(1), Language(2).state_dict()
    network.words.requires_grad_(False)
    (kept, frozen) = load_rescaled(network, state, 0.5, "all")
    assert torch.equal(network.words.weight, state["words.weight"])
    assert torch.equal(network.token, state["token"] / 2)
    assert "'head', is of the pretrained one's shape and kept with what shares its weights." in kept
    assert frozen == "1 of 12 parameters are frozen and stay as they are."
    network.requires_grad_(False)
    with pytest.raises(ValueError, match="there is nothing to multiply: this Language has no weights that is trained"):
        load_rescaled(network, state, 0.5)


def test_a_head_of_the_same_shape_is_kept_unless_it_is_named():
    network, own, state = small(ResNet18, 1), small(ResNet18, 1).state_dict(), small(ResNet18, 2).state_dict()
    assert "'fc', is of the pretrained one's shape and kept: head='fc' begins" in load_rescaled(network, state, 1.0)[0]
    assert torch.equal(network.fc.weight, state["fc.weight"])
    network = small(ResNet18, 1)
    assert load_rescaled(network, state, 1.0, head="fc") == []
    assert torch.equal(network.fc.weight, own["fc.weight"])
    assert torch.equal(network.conv1.weight, state["conv1.weight"])


def test_a_head_anywhere_may_be_new():
    def build(seed, classes):
        torch.manual_seed(seed)
        return nn.ModuleDict({"classifier": nn.Linear(4, classes), "layers": nn.Linear(3, 4)})

    state = build(0, 5).state_dict()
    with pytest.raises(ValueError, match=r"state has 'classifier.weight' of the shape \(5, 4\).*name it with head"):
        load_rescaled(build(1, 2), state, 1.0)
    network = build(1, 2)
    load_rescaled(network, state, 0.5, head="classifier")
    assert torch.equal(network["layers"].weight, state["layers.weight"] / 2)
    assert torch.equal(network["classifier"].weight, build(1, 2)["classifier"].weight / 2)
    with pytest.raises(ValueError, match="has no layer 'fc' with parameters; it has layers, classifier, among others"):
        load_rescaled(build(1, 2), state, 1.0, head="fc")


def test_running_statistics_are_those_of_the_batches_given():
    network, batches = small(ResNet18, 1), [torch.randn(8, 1, 8, 8), (torch.randn(8, 1, 8, 8), None)]
    renew(network, batches, 0)
    seen = network.conv1(batches[0]), network.conv1(batches[1][0])
    torch.testing.assert_close(network.bn1.running_mean, sum(x.mean((0, 2, 3)) for x in seen) / 2)
    renew(network, lambda seed: [batches[seed][0]], 1)
    torch.testing.assert_close(network.bn1.running_mean, seen[1].mean((0, 2, 3)))
    with pytest.raises(ValueError, match="renew_statistics gave no batches"):
        renew(network, iter(()), 0)
    with pytest.raises(ValueError, match="this Language has no running statistics"):
        renew(Language(), batches, 0)


def test_what_is_random_in_torch_is_the_seeds():
    state, drawn = {"weight": torch.ones(1, 1), "bias": torch.ones(1)}, {}

    def finetune(module, seed):
        drawn.setdefault(seed, set()).add(torch.rand(()).item())

    before = torch.get_rng_state()
    choose_factor(lambda seed: nn.Linear(1, 1), state, finetune, lambda module: 0.0, progress=False)
    assert torch.equal(torch.get_rng_state(), before)
    assert [len(values) for values in drawn.values()] == [1, 1]
    assert drawn[0] != drawn[1]
