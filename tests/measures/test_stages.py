"""Stages of small networks against dimensionality of their outputs; streamed kernels against scikit-learn's."""

import math

import numpy as np
import pytest
import torch
import xarray as xr
from sklearn.preprocessing import KernelCenterer

from carryover.config.parameters import model_of
from carryover.measures import stages
from carryover.measures.dimensionality import cka, compare_kernels, ensd, participation_ratio
from carryover.measures.stages import centred_kernels
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
               "folder": "", "other_images": 0, "pixels": 0, "normalisation": "images"},
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


UNITS = {"wide": 300, "narrow": 5, "middle": 40}
SAMPLES = 45


def drawn(seed=0, samples=SAMPLES):
    """{stage: (samples, units) float32} with means that are large beside what varies."""
    rng = np.random.default_rng(seed)
    few = rng.standard_normal((samples, 6))
    made = {name: few @ rng.standard_normal((6, p)) + rng.standard_normal((samples, p)) for name, p in UNITS.items()}
    return {name: (X + 100 * rng.standard_normal(X.shape[1])).astype(np.float32) for name, X in made.items()}


def streamed(arrays, calls=None, **told):
    def features(rows):
        if calls is not None:
            calls.append(rows.tolist())
        for name, X in arrays.items():
            yield name, torch.from_numpy(X[rows])

    return centred_kernels(features, len(next(iter(arrays.values()))), **told)


@pytest.mark.parametrize(("batch", "samples"), [(1, 45), (8, 45), (64, 300)])
def test_kernels_are_those_of_centred_features(batch, samples):
    arrays = drawn(samples=samples)
    found = streamed(arrays, batch=batch)
    assert list(found) == list(UNITS)
    for name, X in arrays.items():
        expected = KernelCenterer().fit_transform(X.astype(float) @ X.T.astype(float))
        np.testing.assert_allclose(found[name], expected, atol=1e-6 * np.abs(expected).max(), rtol=0)


def test_kernels_of_constant_stages_are_0_and_their_dimensionality_is_none():
    arrays = drawn()
    arrays["narrow"] = np.full((SAMPLES, 5), 0.1, dtype=np.float32)
    arrays["narrow"][::3] *= 1 + np.finfo(np.float32).eps
    kernels = streamed(arrays, batch=4)
    assert not kernels["narrow"].any()
    expected = participation_ratio(arrays["wide"]), math.nan, math.nan, math.nan
    assert compare_kernels(kernels["narrow"], kernels["wide"]) == pytest.approx(expected, rel=1e-5, nan_ok=True)


def test_rounding_that_depends_on_the_number_of_samples_does_not_make_a_stage_alive():
    def features(rows):
        yield "dead", torch.full((len(rows), 3), 1 + 1e-4 * len(rows))

    for samples in (29, 100):  # the first call has 16
        assert not centred_kernels(features, samples, batch=20)["dead"].any()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("sample", [0, 40, slice(None)])
def test_features_that_are_not_finite_are_refused_by_the_name_of_the_stage(bad, sample):
    arrays = drawn()
    arrays["middle"][sample, 3] = bad
    with pytest.raises(ValueError, match="the features of the stage middle must be finite"):
        streamed(arrays, batch=7)
