"""Stages of small networks against dimensionality of their outputs, and kernels against scikit-learn's."""

import math

import numpy as np
import pytest
import torch
import xarray as xr
from sklearn.preprocessing import KernelCenterer

from carryover.config.parameters import model_of
from carryover.measures import stages
from carryover.measures.dimensionality import cka, compare_kernels, ensd, participation_ratio
from carryover.measures.stages import centred_kernel
from carryover.networks.convnet_weights import packed
from carryover.networks.efficientnet import NETWORKS
from carryover.tasks.images import images

NAMES = {"resnet18": ["stem", "layer1", "layer2", "layer3", "layer4", "pooled"],
         "vgg11": ["block1", "block2", "block3", "block4", "block5", "pooled"],
         "vgg5": ["block1", "block2", "block3", "pooled"]}  # fmt: skip
STARTS, TARGETS = (0, 1, 0), ("5 6", "5 6", "0 3")
LABELLED = {"long_name": "made for a test", "units": "1"}
PARAMETERS = model_of("measures", "stages")()


def network(name="resnet18", seed=0):
    """Random weights and running statistics, all of which matter."""
    made = NETWORKS[name](torch.Generator().manual_seed(seed), 2, 2, "small", 1).eval()
    rng = np.random.default_rng(seed)
    for key, value in made.state_dict().items():
        if value.ndim == 1:
            law = (
                rng.uniform(0.5, 2, value.shape) if key.endswith(("var", "weight")) else rng.normal(0, 0.1, value.shape)
            )
            value.copy_(torch.from_numpy(law))
    return made


def shard(name="resnet18"):
    """Three runs from two starts, and the networks before and after finetuning."""
    before, after = ([network(name, 10 * when + i) for i in range(3 - 1 + when)] for when in (0, 1))
    states = {"start_state": ("start_network", before), "state": ("run", after)}
    data = xr.Dataset(
        {
            key: ((dim, "parameter"), np.stack([packed(one.state_dict()) for one in made]), LABELLED)
            for key, (dim, made) in states.items()
        },
        coords={"seed": ("run", [0, 1, 0], LABELLED), "target_classes": ("run", list(TARGETS), LABELLED)},
        attrs={"network": name, "width": 2, "stem": "small", "channels": 1, "classes": 2, "images": "digits",
               "folder": "", "pixels": 0, "normalisation": "images"},
    )  # fmt: skip
    data["start"] = ("run", list(STARTS), LABELLED)
    return data, [before[start] for start in STARTS], after


def responses(made, classes):
    """{stage: (images, units)} at the test images of these classes."""
    digits = images()
    pixels = (digits.test - digits.train.mean(dtype=float)) / digits.train.std(dtype=float)
    pixels = pixels[np.isin(digits.test_labels, [int(label) for label in classes.split()])]
    with torch.no_grad():
        return {name: out.flatten(1).numpy() for name, out in made.stages(torch.from_numpy(pixels).float())}


@pytest.mark.parametrize("name", NAMES)
def test_stages_are_compared_by_their_outputs_for_the_same_images(name):
    data, before, after = shard(name)
    measured = stages.measure(data, PARAMETERS)
    assert measured["stage"].values.tolist() == NAMES[name]
    for run, target in enumerate(TARGETS):
        start, end = (responses(made[run], target) for made in (before, after))
        for stage in NAMES[name]:
            X, Y = start[stage], end[stage]
            expected = participation_ratio(Y), participation_ratio(X), ensd(X, Y), cka(X, Y)
            found = [float(measured[key].sel(stage=stage)[run]) for key in stages.MEANING]
            assert found == pytest.approx(expected, rel=1e-5), (run, stage)


def drawn(samples, units):
    """(samples, units) float32, with means that are large beside what varies."""
    rng = np.random.default_rng(units)
    few = rng.standard_normal((samples, 6)) @ rng.standard_normal((6, units))
    return torch.from_numpy(few + rng.standard_normal((samples, units)) + 100 * rng.standard_normal(units)).float()


@pytest.mark.parametrize("samples", [45, 300])
@pytest.mark.parametrize("units", [5, 40, 300])
def test_kernels_are_those_of_centred_features(samples, units):
    features = drawn(samples, units)
    expected = KernelCenterer().fit_transform((features.double() @ features.double().T).numpy())
    found = centred_kernel("stem", features)
    np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max(), rtol=0)


def test_kernels_of_constant_stages_are_0_and_their_dimensionality_is_none():
    wide, dead = drawn(45, 300), torch.full((45, 5), 0.1)
    dead[::3] *= 1 + torch.finfo(torch.float32).eps
    kernel = centred_kernel("dead", dead)
    assert not kernel.any()
    expected = participation_ratio(wide.numpy()), math.nan, math.nan, math.nan
    assert compare_kernels(kernel, centred_kernel("wide", wide)) == pytest.approx(expected, rel=1e-5, nan_ok=True)
    wide[40, 3] = math.nan
    with pytest.raises(ValueError, match="the features of the stage wide must be finite"):
        centred_kernel("wide", wide)
