"""A forecast is near what training gives, its regressions are exact, and what it cannot forecast it says."""

import copy

import numpy as np
import pytest
import torch
import xarray as xr
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from carryover import forecast, record
from carryover.diagnosis import tangent
from carryover.diagnosis.modules import call_network
from carryover.diagnosis.networks import reinitialise
from carryover.errors import UserError
from carryover.measures import gradient_sketches


def network(outputs, seed=0):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        layers = (nn.Linear(10, 128), nn.ReLU(), nn.Linear(128, 32), nn.ReLU(), nn.Linear(32, outputs))
        return nn.Sequential(*layers)


def train(module, X, y, loss, steps=600, rate=0.05):
    descent = torch.optim.SGD(module.parameters(), rate, momentum=0.9)
    for _ in range(steps):
        descent.zero_grad()
        loss(module(X), y).backward()
        descent.step()
    return module


@pytest.fixture(scope="module")
def world():
    """A network that was pretrained on four functions of its inputs, and a source of samples of these functions."""
    draws = torch.Generator().manual_seed(1)
    directions = torch.randn(4, 10, generator=draws) / 10**0.5

    def sample(count):
        X = torch.randn(count, 10, generator=draws)
        return X, torch.tanh(3 * X @ directions.T)

    return train(network(4), *sample(2000), nn.functional.mse_loss), sample


@pytest.mark.parametrize("measure", ["R²", "accuracy"])
def test_the_choice_is_right_and_the_score_near_what_training_gives(measure, world):
    pretrained, sample = world
    (X, features), (tests, test_features) = sample(150), sample(4000)
    if measure == "accuracy":
        y, truth = ((f[:, 0] * f[:, 1] > 0).long() for f in (features, test_features))
    else:
        y, truth = ((f[:, :1] + f[:, 1:2]) for f in (features, test_features))
    found = forecast(pretrained, [(X, y)], arms=("probe", "finetune", "scratch"))
    assert found.attrs["measure"] == measure
    assert found.attrs["choice"] in ("probe", "finetune")
    assert float(found["gain_low"].sel(arm="finetune")) > 0
    trained = {}
    for arm, start in (("finetune", pretrained), ("scratch", network(4, 7))):
        module = copy.deepcopy(start)
        module[4] = network(2 if measure == "accuracy" else 1, 9)[4]
        train(module, X, y, nn.functional.cross_entropy if measure == "accuracy" else nn.functional.mse_loss)
        with torch.no_grad():
            outputs = module(tests)
        error = (outputs - truth).square().mean() / truth.var() if measure == "R²" else 0
        trained[arm] = 1 - float(error) if measure == "R²" else float((outputs.argmax(1) == truth).float().mean())
    forecasts = found["score"].to_series()
    assert trained["finetune"] > trained["scratch"]
    if measure == "R²":  # accuracy is that of least squares, below that of cross-entropy
        assert forecasts[[*trained]].to_dict() == pytest.approx(trained, abs=0.09)


def test_gradients_are_those_of_a_linear_readout_and_projections_keep_their_products(monkeypatch):
    singles, linear = torch.randn(12, 1, 5), nn.Linear(5, 3, bias=False)
    views = tangent.look_at(nn.Sequential(linear), singles, call_network, "", True, 0)
    X = singles[:, 0].double().numpy()
    # d(v·Wx)/dW = v xᵀ
    v = views.gradients[0, 0] / (X[0] @ X[0])
    np.testing.assert_allclose(views.gradients, v * X @ X.T, rtol=1e-5, atol=1e-6)
    inputs = torch.randn(8, 1, 10)
    exact = tangent.look_at(network(2), inputs, call_network, "4", True, 0).gradients
    monkeypatch.setattr(gradient_sketches, "SKETCH", 2048)
    projected = tangent.look_at(network(2), inputs, call_network, "4", True, 0).gradients
    lengths = np.sqrt(np.outer(exact.diagonal(), exact.diagonal()))
    assert 0 < (np.abs(projected - exact) / lengths).max() < 5 * np.sqrt(2 / 2048)


def test_recorded_features_of_both_networks_give_the_probe_and_repeats_count_once(world, tmp_path):
    pretrained, sample = world
    X, features = sample(60)
    for name, module in (("before", pretrained), ("other", network(4, 5))):
        with record(module, "3", tmp_path / f"{name}.nc") as see:
            see(X, sample_id=range(60))
    files = {"model": f"{tmp_path}/before.nc", "baseline": f"{tmp_path}/other.nc"}
    found = forecast(**files, labels=features[:, 0])
    direct = forecast(pretrained, [(X, features[:, 0])] * 2, arms=["probe"])
    assert direct.attrs["samples"] == 60
    assert float(found["score"].sel(arm="probe")) == pytest.approx(float(direct["score"][0]), abs=1e-6)
    assert np.isfinite(float(found["score"].sel(arm="scratch")))
    assert "activations have no gradients" in found["reason"].sel(arm="finetune").item()


class Root(nn.Module):
    """Features with infinite gradients where they are 0, or the same for all samples."""

    def __init__(self, constant=False):
        super().__init__()
        self.first, self.fc, self.constant = nn.Linear(10, 16), nn.Linear(16, 2), constant

    def forward(self, x):
        hidden = self.first(x)
        return self.fc(0 * hidden if self.constant else torch.where(hidden > 0, hidden.sqrt(), 0 * hidden))


def test_where_nothing_can_be_learnt_nothing_is_forecast():
    found = forecast(Root(constant=True), [(X, CLASSES)])
    np.testing.assert_allclose(found["score"], 0.5)
    assert found.attrs["choice"] == "undecided"


def test_a_forecast_does_not_hang_on_gradients_being_switched_off_or_on_the_head():
    model, loader = network(2), [(X, CLASSES)]
    expected = forecast(model, loader)
    with torch.no_grad():
        assert forecast(model, loader).identical(expected)
        model[4].weight.mul_(100)
    xr.testing.assert_identical(forecast(model, loader, arms=["finetune"])["movement"], expected["movement"][1:2])


class Bare(nn.Module):
    """Weights that nothing draws anew."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(10, 3))

    def forward(self, x):
        return x @ self.weight


class Mixing(nn.Module):
    """Each sample's features depend on its batch."""

    def __init__(self, mix):
        super().__init__()
        self.first, self.fc, self.mix = nn.Linear(10, 16), nn.Linear(16, 2), mix

    def forward(self, x):
        return self.fc(self.mix(self.first(x)))


X, CLASSES = torch.randn(20, 10), torch.arange(20) % 2
NORM = nn.BatchNorm1d(16, track_running_stats=False)
ATTENTION = nn.Sequential(nn.Unflatten(1, (4, 4)), nn.TransformerEncoderLayer(4, 2, batch_first=False), nn.Flatten())
EMPTY = torch.cat([X[:, :1], X[:, 1:] * torch.nan], 1)
IMAGES = nn.Sequential(nn.Unflatten(1, (4, 2, 2)), nn.InstanceNorm2d(4), nn.Flatten())


@pytest.mark.parametrize(
    ("model", "loader", "options", "sentence"),
    [
        (network(2), [X], {}, "loader must give labels"),
        (network(2), [], {}, "loader gives no batches"),
        (network(2), (X, CLASSES), {}, r"is one batch: put it into a list, as \[\(inputs, labels\)\]"),
        (
            network(2),
            DataLoader(TensorDataset(X, CLASSES), batch_size=None),
            {},
            "gives samples one by one.*batch_size",
        ),
        (network(2), [{"x": one, "label": 1} for one in X], {}, "gives samples one by one, each with its own label"),
        (network(2), [*X], {"labels": CLASSES}, "one for each of 200 samples, .* if each batch is one sample"),
        (network(2), [(EMPTY, CLASSES)], {}, "features of 4 must be finite, and are not at number 1"),
        (network(2), [(X, EMPTY[:, 1])], {}, "labels must be finite, and that of sample 0 is not"),
        (network(2), [(X, torch.full((20,), 0.3))], {}, "labels must vary between samples"),
        (Mixing(NORM), [(X, CLASSES)], {}, "mix normalises over the samples of a batch"),
        (Mixing(ATTENTION), [(X, CLASSES)], {"layer": "fc"}, "features of fc depend on other samples of a batch"),
        (Mixing(lambda h: h - h.mean(0)), [(X, CLASSES)], {}, "features of fc depend on other samples of a batch"),
        (
            Mixing(lambda h: h / h.std(0, correction=0)),
            [(X, CLASSES)],
            {},
            "features of fc depend on other samples of a batch",
        ),
        (nn.Linear(10, 2, dtype=torch.cfloat), [(X + 0j, CLASSES)], {"layer": ""}, "no tensor of real features"),
        (network(2), [(X, CLASSES)], {"layer": "0"}, "no parameter is trained below the features of 0"),
        (network(2), [(X, CLASSES)], {"layer": 0}, "layer must be the name of a layer or None"),
        (network(2), [(X, CLASSES)], {"baseline": nn.Linear(10, 2)}, "baseline must have the layer 4 of the model"),
        (network(2), [(X, 0 * CLASSES)], {}, "two classes or more, and all are 0"),
        (network(2), [(X[:9], CLASSES[:9])], {}, "10 different samples or more, got 9"),
        (network(2), [(X[:1].repeat(20, 1), CLASSES)], {}, "10 different samples or more, got 1"),
        (nn.ReLU(), [(X, CLASSES)], {}, "model has no parameters"),
        (Bare(), [(X, CLASSES)], {}, "no parameter of the network can be reset"),
        (network(2), [(X, CLASSES)], {"arms": ["train"]}, "arms must be some of probe"),
        (network(2), [(X, CLASSES)], {"labels": [0, 1]}, "labels must be one for each of 20 samples"),
        (network(2), [(X, CLASSES)], {"layer": "5"}, "none is like 5"),
        (network(2), [(X, CLASSES)], {"baseline": "mine"}, "baseline must be 'reinitialised'"),
        (network(2), [(X, CLASSES)], {"baseline": [network(2), None]}, "a list of torch modules, and has None"),
        (network(2), [(X[:16], CLASSES), (X[16:], CLASSES[16:])], {}, "a row of inputs for each label, got 16 for 20"),
        (network(2), [(X, CLASSES)], {"labels": np.arange(40) % 2}, "labels must be one for each of 20 samples"),
        (network(2), [(X, CLASSES)], {"layer": "*"}, "layer must be one, and"),
        (network(2), [(X, CLASSES)], {"seed": -1}, "seed must be a whole number from 0"),
        (network(2), [(X, CLASSES)], {"factor": "a"}, "factor must be a number between 0 and ∞"),
        (Root(), [(X, CLASSES)], {}, "gradients of the features of fc must be finite"),
        ({"a": X}, None, {"labels": CLASSES, "baseline": "none.nc"}, "none.nc cannot be read"),
        ({"a": X, "b": X}, None, {"labels": CLASSES}, "layer must be one of a, b"),
        ({"a": X}, None, {}, "labels must be given with activations"),
    ],
)
def test_bad_input_is_one_sentence(model, loader, options, sentence):
    with pytest.raises(UserError, match=sentence):
        forecast(model, loader, **options)


@pytest.mark.parametrize("mix", [
    nn.BatchNorm1d(16), IMAGES, nn.Dropout(), lambda h: nn.functional.dropout(h),
    lambda h: h.bfloat16().float(),
])  # fmt: skip
def test_features_that_do_not_depend_on_the_batch_are_taken(mix):
    assert forecast(Mixing(mix), [(X, CLASSES)], arms=["probe"], baseline=None)["reason"].item() == ""


def test_a_baseline_may_be_several_networks():
    fresh = [reinitialise(network(2), seed) for seed in range(5)]
    given, drawn = (forecast(network(2), [(X, CLASSES)], baseline=one) for one in (fresh, "reinitialised"))
    np.testing.assert_array_equal(given["score_low"], drawn["score_low"])
    by_activations = [forecast({"a": X}, labels=CLASSES, baseline=one, arms=["probe", "scratch"])
                      for one in ({"a": X**2}, [{"a": X**2}, {"a": X**2}])]  # fmt: skip
    np.testing.assert_allclose(*(one["score"] for one in by_activations))


def test_sparse_inputs_are_those_in_full():
    sparse, full = (forecast(network(2), [(inputs, CLASSES)]) for inputs in (X.to_sparse(), X))
    np.testing.assert_array_equal(sparse["score"], full["score"])


def test_gradients_that_take_too_much_memory_are_refused(monkeypatch):
    monkeypatch.setattr("carryover.diagnosis.arms.LARGEST", 2**20)
    with pytest.raises(UserError, match="GiB are the most: take fewer samples"):
        forecast(network(2), [(X, CLASSES)])
