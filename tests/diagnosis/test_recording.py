"""Activations recorded from a module are those it has, and the module is left as it was, whatever happens."""

import netCDF4
import numpy as np
import pytest
import torch
from torch import nn

from carryover.diagnosis.recording import record
from carryover.networks.convnet import VGG11


def network():
    torch.manual_seed(0)
    parts = [nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Dropout(0.5), nn.Linear(144, 5)]
    return nn.Sequential(*parts)


def images(count=50):
    return torch.randn(count, 3, 8, 8, generator=torch.Generator().manual_seed(1))


def test_what_is_recorded_is_what_the_module_computes(tmp_path):
    net, x = network(), images()
    net[1].eval()  # a mode of its own
    state = {name: value.clone() for name, value in net.state_dict().items()}
    with record(net, ["2", "5", "2"], tmp_path / "a.nc") as see:
        outputs = [see(batch) for batch in x.split(16)]
    assert [part.training for part in net] == [True, False, True, True, True, True]
    assert not any(part._forward_hooks for part in net)
    assert all(torch.equal(value, state[name]) for name, value in net.state_dict().items())
    net.eval()
    with netCDF4.Dataset(tmp_path / "a.nc") as file, torch.no_grad():
        assert list(file.variables) == ["2", "5"]
        np.testing.assert_allclose(file["5"][:], net(x).numpy(), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(file["2"][:], net[:3](x).flatten(1).numpy(), rtol=1e-5, atol=1e-6)
        np.testing.assert_array_equal(file["5"][:], torch.cat(outputs).numpy())
        assert {file[name].units for name in file.variables} == {"1"}


def linear_and_relu():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 5), nn.ReLU(inplace=True)), torch.randn(8, 6)


def small_vgg():
    return VGG11(torch.Generator().manual_seed(0), 2, 2, "small", 1), torch.randn(8, 1, 8, 8)


@pytest.mark.parametrize(("make", "name"), [(linear_and_relu, "0"), (small_vgg, "features.0")])
def test_what_is_done_in_place_afterwards_is_not_recorded(make, name, tmp_path):
    net, x = make()
    with record(net, [name], tmp_path / "a.nc") as see:
        see(x)
    with netCDF4.Dataset(tmp_path / "a.nc") as file, torch.no_grad():
        expected = net.get_submodule(name)(x).flatten(1).numpy()
        assert (expected < 0).any()
        np.testing.assert_allclose(file[name][:], expected, rtol=1e-5, atol=1e-6)


def test_an_error_leaves_the_module_and_no_file(tmp_path):
    net = network()
    with pytest.raises(KeyboardInterrupt), record(net, ["2"], tmp_path / "a.nc") as see:  # noqa: PT012
        see(images())
        raise KeyboardInterrupt
    assert net.training
    assert not net[2]._forward_hooks
    assert list(tmp_path.iterdir()) == []
