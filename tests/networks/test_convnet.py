"""ResNet-18, VGG-11 and VGG-5: torchvision's names and sizes, what they compute, and how they start."""

import math

import pytest
import torch
from torch.nn import functional as F

from carryover.networks.convnet import VGG5, VGG11, ResNet18

NETWORKS = pytest.mark.parametrize("network", [ResNet18, VGG11, VGG5])


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize(("network", "parameters"), [(ResNet18, 11_689_512), (VGG11, 132_863_336)])
def test_numbers_of_parameters_are_those_of_torchvision(network, parameters):
    assert sum(parameter.numel() for parameter in network(generator()).parameters()) == parameters


def resnet_by_hand(state, x, small, training):
    """Stages and outputs of ResNet-18 from its state; `training` normalises by the batch, otherwise by the buffers."""

    def conv(name, x, stride, padding):
        return F.conv2d(x, state[f"{name}.weight"], None, stride, padding)

    def norm(name, x):
        mean, variance = state[f"{name}.running_mean"], state[f"{name}.running_var"]
        if training:
            mean, variance = x.mean((0, 2, 3)), x.var((0, 2, 3), correction=0)
        x = (x - mean[:, None, None]) / torch.sqrt(variance + 1e-5)[:, None, None]
        return x * state[f"{name}.weight"][:, None, None] + state[f"{name}.bias"][:, None, None]

    x = norm("bn1", conv("conv1", x, *((1, 1) if small else (2, 3)))).clamp(min=0)
    stages = [x if small else F.max_pool2d(x, 3, 2, 1)]
    for layer in (1, 2, 3, 4):
        x = stages[-1]
        for block in (0, 1):
            name, stride = f"layer{layer}.{block}", 2 if layer > 1 and block == 0 else 1
            shortcut = norm(f"{name}.downsample.1", conv(f"{name}.downsample.0", x, 2, 0)) if stride == 2 else x
            x = norm(f"{name}.bn1", conv(f"{name}.conv1", x, stride, 1)).clamp(min=0)
            x = (norm(f"{name}.bn2", conv(f"{name}.conv2", x, 1, 1)) + shortcut).clamp(min=0)
        stages.append(x)
    stages.append(x.mean((2, 3)))
    return stages, stages[-1] @ state["fc.weight"].T + state["fc.bias"]


def vgg_by_hand(state, x, small, training):
    return without_normalisation(state, x, small, (0, 3, 6, 8, 11, 13, 16, 18), (0, 3, 8, 13, 18), 6, (0, 3, 6))


def vgg5_by_hand(state, x, small, training):
    return without_normalisation(state, x, small, (0, 3, 6), (0, 3, 6), 0, (0, 3))


def without_normalisation(state, x, small, convolutions, pooled_after, pooled_from, linear):
    stages = []
    for index in convolutions:
        x = F.conv2d(x, state[f"features.{index}.weight"], state[f"features.{index}.bias"], 1, 1).clamp(min=0)
        if index in pooled_after:
            x = x if small and index < pooled_from else F.max_pool2d(x, 2)
            stages.append(x)
    x = x.mean((2, 3)) if small else F.adaptive_avg_pool2d(x, 7).flatten(1)
    stages.append(x)
    for index in linear:
        x = x @ state[f"classifier.{index}.weight"].T + state[f"classifier.{index}.bias"]
        x = x if index == linear[-1] else x.clamp(min=0)
    return stages, x


@pytest.mark.parametrize(
    ("network", "by_hand", "stem", "shape", "training"),
    [
        (ResNet18, resnet_by_hand, "imagenet", (3, 2, 37, 40), False),
        (ResNet18, resnet_by_hand, "imagenet", (3, 2, 8, 8), True),
        (ResNet18, resnet_by_hand, "small", (3, 1, 8, 8), False),
        (ResNet18, resnet_by_hand, "small", (3, 1, 11, 8), True),
        (VGG11, vgg_by_hand, "imagenet", (2, 3, 32, 45), False),
        (VGG11, vgg_by_hand, "small", (2, 1, 8, 8), False),
        (VGG11, vgg_by_hand, "small", (2, 1, 19, 32), False),
        (VGG5, vgg5_by_hand, "imagenet", (2, 3, 17, 60), False),
        (VGG5, vgg5_by_hand, "small", (2, 1, 28, 28), False),
    ],
)
def test_forward_and_stages_by_hand(network, by_hand, stem, shape, training):
    network = network(generator(), classes=5, width=2, stem=stem, channels=shape[1]).double().train(training)
    shown = torch.randn(*shape, generator=generator(1), dtype=torch.float64)
    with torch.no_grad():
        for tensor in network.state_dict().values():  # biases and statistics start from values that would hide errors
            if tensor.is_floating_point() and tensor.ndim == 1:
                tensor.uniform_(0.5, 1.5, generator=generator(2))
        state = {name: tensor.clone() for name, tensor in network.state_dict().items()}
        expected, outputs = by_hand(state, shown, stem == "small", training)
        found = list(network.stage_outputs(shown))
        names = [f"block{k}" for k in range(1, len(expected))]
        if by_hand is resnet_by_hand:
            names = ["stem", "layer1", "layer2", "layer3", "layer4"]
        assert [name for name, _ in found] == [*names, "pooled"]
        for (_, stage), by_hand_stage in zip(found, expected, strict=True):
            torch.testing.assert_close(stage, by_hand_stage, rtol=1e-11, atol=1e-11)
        torch.testing.assert_close(network(shown), outputs, rtol=1e-11, atol=1e-11)


@NETWORKS
def test_one_generator_gives_one_network_and_no_other_random_state_is_touched(network):
    before = torch.random.get_rng_state()
    first, again, other = (network(generator(seed), classes=3, width=2).state_dict() for seed in (0, 0, 1))
    assert torch.equal(before, torch.random.get_rng_state())
    assert all(torch.equal(first[name], again[name]) for name in first)
    drawn = [name for name in first if first[name].ndim > 1]
    assert not any(torch.equal(first[name], other[name]) for name in drawn)


@NETWORKS
def test_weights_start_from_the_laws_of_torchvision(network):
    network = network(generator(3), classes=100, width=16)
    for name, module in network.named_modules():
        if isinstance(module, torch.nn.Conv2d):
            deviation, spread = math.sqrt(2 / (module.out_channels * math.prod(module.kernel_size))), 3
        elif isinstance(module, torch.nn.Linear):
            uniform = isinstance(network, ResNet18)
            # of torchvision's inputs VGG-11 has a quarter here and twice its weights; VGG-5 an eighth, and a 16th
            wider = {"classifier.0": math.sqrt(8), "classifier.3": 4} if isinstance(network, VGG5) else {}
            law = 1 / math.sqrt(3 * module.in_features), 1.8
            deviation, spread = law if uniform else (0.01 * wider.get(name, 2), 3)
        else:
            continue
        weight = module.weight.detach()
        assert abs(weight.mean()) < 5 * deviation / math.sqrt(weight.numel()), name
        # the deviation of a variance is √((kurtosis − 1)/n) of it: kurtosis 3 for a normal law, 1.8 for a uniform one
        assert weight.square().mean() / deviation**2 == pytest.approx(
            1, abs=5 * math.sqrt((spread - 1) / weight.numel())
        ), name
    state = network.state_dict()
    if isinstance(network, ResNet18):
        bound = 1 / math.sqrt(128)
        assert 0.9 * bound < state["fc.bias"].abs().max() <= bound
        assert all((state[f"bn1.{name}"] == 1).all() for name in ("weight", "running_var"))
        assert all((state[f"bn1.{name}"] == 0).all() for name in ("bias", "running_mean", "num_batches_tracked"))
    else:
        assert not any(tensor.any() for name, tensor in state.items() if name.endswith("bias"))
