"""Streamed kernels against scikit-learn's, in however many passes; memory, rounding, and what is constant."""

import math

import numpy as np
import pytest
import torch
from sklearn.preprocessing import KernelCenterer

from carryover.measures.dimensionality import compare_kernels, participation_ratio
from carryover.measures.stages import centred_kernels

UNITS = {"wide": 300, "narrow": 5, "middle": 40}
ROW = 4 * sum(UNITS.values())  # bytes of the features of one sample
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


@pytest.mark.parametrize("rows", [1, 7, 45, 1000])
@pytest.mark.parametrize("batch", [1, 8])
def test_kernels_are_those_of_centred_features_in_however_many_passes(rows, batch):
    arrays = drawn()
    found = streamed(arrays, batch=batch, memory=rows * ROW)
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
        streamed(arrays, batch=7, memory=20 * ROW)
