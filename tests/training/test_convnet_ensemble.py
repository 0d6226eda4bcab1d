"""Networks that are trained in step, beside PyTorch's own loop over each of them."""

import numpy as np
import pytest
import torch

from carryover.networks.convnet_layers import Dropout
from carryover.networks.convnet_weights import pack
from carryover.training.convnet_ensemble import ConvnetEnsemble
from toy import convnet_toys as toys


def batch(runs, seed=0, count=6):
    rng = torch.Generator().manual_seed(seed)
    return torch.randn(runs, count, 1, 8, 8, generator=rng), torch.randint(3, (runs, count), generator=rng)


def ensemble_of(networks, columns=(slice(0, 3),), **options):
    states = [network.state_dict() for network in networks]
    return ConvnetEnsemble(networks[0], states, columns, (1, 8, 8), **options)


@pytest.mark.portable
@pytest.mark.parametrize(("kind", "runs"), [("resnet18", 1), ("resnet18", 3), ("vgg11", 3), ("vgg5", 3)])
def test_steps_are_those_of_plain_loops(kind, runs):
    """In a layer that drops units, two of three, the same in all steps."""
    networks, rates = [toys.network(kind, seed=run) for run in range(runs)], [0.02, 0.01, 0.02]
    ensemble = ensemble_of(networks, weight_decay=0.01)
    batches = [batch(runs, seed) for seed in range(3)]
    masks = [
        2 * (torch.arange(runs * 6 * units).view(runs, 6, units) % 3 > 0).float() for units in ensemble.units_dropped
    ]
    losses = [
        ensemble.step([images], [labels], rate, masks) for (images, labels), rate in zip(batches, rates, strict=True)
    ]
    for run, network in enumerate(networks):
        for layer, mask in zip((one for one in network.modules() if isinstance(one, Dropout)), masks, strict=True):
            layer.kept = mask[run]
        own = [(images[run], labels[run]) for images, labels in batches]
        expected = toys.plain_loop(network, own, rates, weight_decay=0.01)
        np.testing.assert_allclose([loss[run] for loss in losses], expected, rtol=1e-4)
        np.testing.assert_allclose(ensemble.pack()[run], pack(network.state_dict()), rtol=1e-3, atol=1e-4)
    shown = batches[0][0]
    found = ensemble.outputs(np.arange(runs), shown)
    for run, network in enumerate(networks):
        torch.testing.assert_close(found[run], network.eval()(shown[run]), rtol=1e-3, atol=1e-3)
        own = np.array([run])
        torch.testing.assert_close(ensemble.outputs(own, shown[own]), found[own], rtol=1e-3, atol=1e-3)
    if runs > 2:
        some = np.array([0, 2])
        torch.testing.assert_close(ensemble.outputs(some, shown[some]), found[some], rtol=1e-3, atol=1e-3)


def test_two_tasks_add_their_losses_and_each_has_its_own_outputs():
    network = toys.network(classes=5)
    (one, labels), (two, others) = batch(1, 0), batch(1, 1)
    ensemble = ensemble_of([network], columns=(slice(0, 3), slice(3, 5)))
    found = ensemble.step([one, two], [labels, others % 2], 0.01)
    outputs = network.train()(torch.cat([one[0], two[0]])).detach()
    losses = (
        torch.nn.functional.cross_entropy(outputs[:6, :3], labels[0]),
        torch.nn.functional.cross_entropy(outputs[6:, 3:], others[0] % 2),
    )
    torch.testing.assert_close(found[0], sum(losses))


@pytest.mark.parametrize("runs", [1, 2])
def test_renewed_statistics_are_those_of_the_images(runs):
    networks = [toys.network(seed=run) for run in range(runs)]
    ensemble, (images, _) = ensemble_of(networks), batch(runs)
    before = {name: tensor.clone() for name, tensor in ensemble.parameters.items()}
    ensemble.renew_statistics([images])
    for run, network in enumerate(networks):
        first = network.conv1(images[run])
        torch.testing.assert_close(ensemble.buffers["bn1.running_mean"][run], first.mean((0, 2, 3)).detach())
        torch.testing.assert_close(ensemble.buffers["bn1.running_var"][run], first.var((0, 2, 3)).detach())
    assert all(torch.equal(tensor, before[name]) for name, tensor in ensemble.parameters.items())
    ensemble.step([images], [torch.zeros(runs, 6, dtype=torch.int64)], 1e-9)  # and training goes on averaging
    torch.testing.assert_close(ensemble.buffers["bn1.running_mean"][0], networks[0].conv1(images[0]).mean((0, 2, 3)).detach())  # fmt: skip  # noqa: E501


def test_mixed_precision_computes_in_bfloat16_and_keeps_float32():
    networks = [toys.network()]
    (images, labels), exact = batch(1), ensemble_of(networks)
    mixed = ensemble_of(networks, precision="bfloat16")
    losses = [each.step([images], [labels], 0.01) for each in (exact, mixed)]
    assert losses[0] != losses[1]
    torch.testing.assert_close(losses[0], losses[1], rtol=0.05, atol=0)
    assert {tensor.dtype for tensor in mixed.parameters.values()} == {torch.float32}
