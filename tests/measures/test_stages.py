"""Stages of small networks against dimensionality of their outputs."""

import math

import numpy as np
import pytest
import torch

from carryover.config.plugins import model_of
from carryover.measures import stages
from carryover.measures.dimensionality import cka, compare_kernels, ensd, participation_ratio
from carryover.measures.stages import centre_kernel
from carryover.networks.convnet import NETWORKS
from carryover.networks.convnet_weights import unpack
from carryover.tasks.images import images
from toy import trainer_shards

NAMES = {"resnet18": ["stem", "layer1", "layer2", "layer3", "layer4", "pooled"],
         "vgg11": ["block1", "block2", "block3", "block4", "block5", "pooled"],
         "vgg5": ["block1", "block2", "block3", "pooled"]}  # fmt: skip
PARAMETERS = model_of("measures", "stages")()


def network(data, state):
    """One of a shard's networks, with its running statistics."""
    made = NETWORKS[data.attrs["network"]](torch.Generator(), data.attrs["classes"], data.attrs["width"], "small", 1)
    made.load_state_dict(unpack(made, state.values))
    return made.eval()


def responses(made, classes):
    """{stage: (images, units)} at the test images of these classes."""
    digits = images()
    pixels = (digits.test - digits.train.mean(dtype=float)) / digits.train.std(dtype=float)
    pixels = pixels[np.isin(digits.test_labels, [int(label) for label in classes.split()])]
    with torch.no_grad():
        return {name: out.flatten(1).numpy() for name, out in made.stage_outputs(torch.from_numpy(pixels).float())}


@pytest.mark.parametrize("name", NAMES)
def test_stages_are_compared_by_their_outputs_for_the_same_images(name):
    data = trainer_shards.convnets(network=name, samples=(6,), rescale=(0.5, 1.0), keep_weights=True)
    measured = stages.stages(data, PARAMETERS)
    assert measured["stage"].values.tolist() == NAMES[name]
    for run, (start, target) in enumerate(zip(data["start"].values, data["target_classes"].values, strict=True)):
        states = data["start_state"][start], data["state"][run]
        before, after = (responses(network(data, state), target) for state in states)
        for stage in NAMES[name]:
            X, Y = before[stage], after[stage]
            expected = participation_ratio(Y), participation_ratio(X), ensd(X, Y), cka(X, Y)
            C, D = X.T.astype(float) @ X, Y.T.astype(float) @ Y  # as the released code has it
            ratios = [np.trace(A) ** 2 / np.trace(A @ A) for A in (D, C)]
            expected += (*ratios, np.trace(C @ D) / np.trace(C) / np.trace(D) * ratios[0] * ratios[1])
            found = [float(measured[key].sel(stage=stage)[run]) for key in (*stages.MEANING, *stages.RELEASED)]
            assert found == pytest.approx(expected, rel=1e-5), (run, stage)


def test_kernels_of_constant_stages_are_0_and_their_dimensionality_is_none():
    rng, dead = np.random.default_rng(300), torch.full((45, 5), 0.1)
    wide = torch.from_numpy(rng.standard_normal((45, 300)) + 100 * rng.standard_normal(300)).float()  # a large mean
    dead[::3] *= 1 + torch.finfo(torch.float32).eps
    kernel = centre_kernel("dead", dead)
    assert not kernel.any()
    expected = participation_ratio(wide.numpy()), math.nan, math.nan, math.nan
    assert compare_kernels(kernel, centre_kernel("wide", wide)) == pytest.approx(expected, rel=1e-5, nan_ok=True)
    wide[40, 3] = math.nan
    with pytest.raises(ValueError, match="the features of the stage wide must be finite"):
        centre_kernel("wide", wide)
