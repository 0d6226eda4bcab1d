"""Training of convolutional networks: batches, ends, checkpoints, and going on after a kill."""

import numpy as np
import pytest
import torch

from carryover.networks.convnet_weights import pack
from carryover.training.convnet import Feed, Problem, gradient_descent
from carryover.training.convnet_ensemble import ConvnetEnsemble
from carryover.training.result import Divergence
from toy import convnet_toys as toys


def train(runs=2, count=6, kind="resnet18", images=None, start=0, **options):
    images = images or toys.prepared()
    options = {"learning_rate": 0.02, "max_epochs": 6, "batch_size": 128} | options
    posed = Problem(
        toys.network(kind), lambda run: toys.network(kind, seed=start + run).state_dict(),
        [toys.task(images, runs, count)], images, toys.draws,
    )  # fmt: skip
    return gradient_descent(posed, **options)


def test_full_batches_follow_the_plain_loop_down_a_cosine():
    images, network = toys.prepared(), toys.network()
    rates = 0.02 * (1 + np.cos(np.pi * np.arange(6) / 6)) / 2
    batch = images.batch("train", np.arange(6)), torch.arange(6) % 3
    losses = toys.plain_loop(network, [batch] * 6, rates)
    found = train(runs=1, decay="cosine")
    assert found.loss[0] == pytest.approx(losses[-1], rel=1e-4)
    np.testing.assert_allclose(found.weights[0], pack(network.state_dict()), rtol=1e-3, atol=1e-4)
    assert found.time[0, -1] == pytest.approx(rates.sum())
    network.eval()
    wrong = network(images.batch("test", np.arange(30))).argmax(1).numpy() != np.arange(30) % 3
    assert found.risk_final[0] == pytest.approx(wrong.mean())
    assert found.risk_best[0] == np.nanmin(found.curves["risk"][0])


def test_an_epoch_takes_every_image_once_in_batches_of_nearly_equal_size():
    seen = []

    class Counting(type(toys.prepared())):
        def batch(self, part, indices, rng=None, device="cpu"):
            if part == "train":
                seen.append(indices)
            return super().batch(part, indices, rng, device)

    images = Counting(toys.prepared().images)
    found = train(runs=1, count=17, images=images, batch_size=8, max_epochs=2)
    assert found.evaluations[0] == 6
    assert sorted(map(len, seen)) == [5, 5, 6, 6, 6, 6]
    for epoch in (seen[:3], seen[3:]):
        assert sorted(np.concatenate(epoch)) == list(range(17))
    assert not np.array_equal(np.concatenate(seen[:3]), np.concatenate(seen[3:]))


def test_runs_end_where_their_loss_is_small_enough():
    long = train(runs=3, max_epochs=60, checkpoints=60)
    tolerance = float(np.median(long.curves["loss"][:, 20]))
    found = train(runs=3, max_epochs=60, tolerance=tolerance)
    assert found.converged.all()
    assert len(set(found.evaluations.tolist())) > 1
    assert (found.loss <= tolerance).all()
    first = [int(np.argmax(curve <= tolerance)) for curve in long.curves["loss"]]
    epochs = [int(steps) for steps in found.evaluations]
    for run, epoch in enumerate(epochs):
        assert long.curves["loss"][run, first[run]] <= tolerance
        assert found.curves["loss"][run][np.isfinite(found.curves["loss"][run])][-1] == found.loss[run]
        assert epoch >= 2
    assert not train(runs=1, max_epochs=2, tolerance=1e-9).converged[0]


def test_augmentation_depends_on_run_and_step_alone():
    images = toys.prepared(crop=1, flip=True)
    one, again, plain = train(images=images), train(images=images), train()
    assert np.array_equal(one.weights, again.weights)
    assert not np.array_equal(one.weights, plain.weights)


def test_dropped_units_depend_on_run_and_step_alone_and_spare_the_global_generator():
    before = torch.random.get_rng_state()
    one, again = (train(runs=1, kind="vgg11") for _ in range(2))
    assert np.array_equal(one.weights, again.weights)
    assert torch.equal(before, torch.random.get_rng_state())
    images = toys.prepared()
    network = toys.network("vgg11")
    ensemble = ConvnetEnsemble(network, [network.state_dict()] * 2, (), images.shape)
    feed = Feed(ensemble, Problem(network, None, [toys.task(images, 2, 6)], images, toys.draws), 0)
    kept, later = (torch.stack(feed.dropout_masks(number, 300)) for number in (0, 1))
    assert kept.shape == (2, 2, 300, 128)
    assert kept.unique().tolist() == [0, 2]
    assert abs(kept.mean().item() - 1) < 4 / kept.numel() ** 0.5
    for other in (later, kept.flip(0), kept.flip(1)):
        assert abs(((kept - 1) * (other - 1)).mean().item()) < 4 / kept.numel() ** 0.5


def test_a_loss_that_is_not_finite_names_the_runs():
    with pytest.raises(Divergence, match=r"infinite or not a number in runs \[0\]"), np.errstate(all="ignore"):
        train(runs=1, kind="vgg11", learning_rate=1e20)
