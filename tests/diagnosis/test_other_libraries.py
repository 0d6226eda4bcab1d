"""Our similarities are those of other people's packages, where these are installed.

torch-cka and pytorch-cka are among what `make test` installs.
"""

import warnings

import numpy as np
import pytest
import torch
from torch import nn

from carryover.diagnosis.layers import layer_similarity

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
