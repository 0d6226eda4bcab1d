"""Our dimensions and similarities are those of other people's packages, where these are installed.

torch-cka and pytorch-cka are among what `make test` installs. scikit-dimension and rsatoolbox need large packages of
their own (numba; h5py, scikit-image): `pip install scikit-dimension rsatoolbox` to compare with them, too.
"""

import warnings

import numpy as np
import pytest
import torch
from torch import nn

from carryover.diagnosis.layers import layer_similarity
from carryover.measures.dimensionality import cka, participation_ratio

SAMPLES = 60


@pytest.fixture(scope="module")
def pair():
    """Two networks' responses, {layer: (samples, units)}: of means far from 0, and of decaying spectra."""
    rng = np.random.default_rng(0)
    shared, decay = rng.standard_normal((SAMPLES, 12)), np.arange(1, 13) ** -0.5

    def layer(units):
        X = (shared * decay) @ rng.standard_normal((12, units)) + 0.3 * rng.standard_normal((SAMPLES, units)) + 2
        return X.astype(np.float32)

    return [{"first": layer(30), "second": layer(90)}, {"first": layer(50), "second": layer(20), "third": layer(8)}]


class Replay(nn.Module):
    """A network whose layers respond to the samples' numbers as was recorded."""

    def __init__(self, recorded):
        super().__init__()
        self.recorded = {name: torch.from_numpy(values) for name, values in recorded.items()}
        self.layers = nn.ModuleDict({name: nn.Identity() for name in recorded})

    def forward(self, numbers):
        for name, values in self.recorded.items():
            self.layers[name](values[numbers])


def tensors(side):
    return [torch.from_numpy(values).double() for values in side.values()]


def test_the_debiased_similarity_is_that_of_pytorch_cka(pair):
    theirs = pytest.importorskip("cka", reason="pytorch-cka is not installed").cka_from_features(*map(tensors, pair))
    np.testing.assert_allclose(layer_similarity(*pair, debiased=True), theirs.clamp(0, 1), atol=1e-5)


@pytest.mark.parametrize("batch", [SAMPLES, 20])
def test_by_batches_it_is_that_of_torch_cka(pair, batch, capfd):
    """Which takes networks and a loader."""
    theirs = pytest.importorskip("torch_cka", reason="torch-cka is not installed")
    names = [[f"layers.{name}" for name in side] for side in pair]
    comparison = theirs.CKA(*map(Replay, pair), "before", "after", *names)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.arange(SAMPLES)), batch_size=batch)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # it says that the loader is used for both
        comparison.compare(loader)
    np.testing.assert_allclose(layer_similarity(*pair, batch=batch), comparison.hsic_matrix, atol=2e-4)


def test_by_batches_it_is_that_of_pytorch_cka(pair):
    theirs = pytest.importorskip("cka", reason="pytorch-cka is not installed")
    names = [[f"layers.{name}" for name in side] for side in pair]
    loader = torch.utils.data.DataLoader(torch.arange(SAMPLES), batch_size=20)
    (found,) = theirs.compute_cka(
        *map(Replay, pair), loader, layers=names[0], model2_layers=names[1], device="cpu", progress=False
    )
    np.testing.assert_allclose(layer_similarity(*pair, batch=20), found, atol=2e-4)


def test_pr_is_the_participation_ratio_of_scikit_dimension(pair):
    skdim = pytest.importorskip("skdim", reason="scikit-dimension is not installed")
    for X in pair[0].values():
        theirs = skdim.id.lPCA(ver="participation_ratio").fit(X.astype(np.float64)).dimension_
        assert participation_ratio(X) == pytest.approx(theirs, rel=1e-5)


def test_cka_is_the_whitened_cosine_of_rsatoolbox(pair):
    """Of squared Euclidean distances between samples, which is linear CKA: J. Diedrichsen et al. (2021)."""
    pytest.importorskip("rsatoolbox", reason="rsatoolbox is not installed")
    from rsatoolbox.data import Dataset
    from rsatoolbox.rdm import calc_rdm, compare

    rdms = [[calc_rdm(Dataset(X.astype(np.float64))) for X in side.values()] for side in pair]
    theirs = [[compare(one, other, "cosine_cov").item() for other in rdms[1]] for one in rdms[0]]
    np.testing.assert_allclose(layer_similarity(*pair), theirs, rtol=1e-5)
    assert cka(pair[0]["first"], pair[1]["second"]) == pytest.approx(theirs[0][1], rel=1e-5)
