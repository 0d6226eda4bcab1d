"""Every kind of file gives what the mapping gives; what cannot be read is refused by name."""

import zipfile

import numpy as np
import pytest
import torch
import xarray as xr
from safetensors.numpy import save_file

from carryover.diagnosis.diagnosis import diagnose
from carryover.errors import UserError

RNG = np.random.default_rng(0)
BEFORE = {"conv1": RNG.standard_normal((90, 3, 4, 5), dtype=np.float32), "fc.0": RNG.standard_normal((90, 7))}
AFTER = {name: values + 0.5 * RNG.standard_normal(values.shape).astype(values.dtype) for name, values in BEFORE.items()}
IDS = np.array([f"image {i}" for i in range(90)])


def as_dataset(arrays):
    return xr.Dataset(
        {name: (("sample", *(f"{name} {axis}" for axis in range(1, values.ndim))), values)
         for name, values in arrays.items()},
        coords={"sample": np.arange(90)},
    )  # fmt: skip


WRITERS = {
    "plain.npz": lambda path, arrays: np.savez(path, **arrays),
    "made.nc": lambda path, arrays: as_dataset(arrays).to_netcdf(path),
    "made.safetensors": lambda path, arrays: save_file(arrays, path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_kind_of_file_gives_what_the_mapping_gives(name, tmp_path):
    paths = [tmp_path / f"{when}_{name}" for when in ("before", "after")]
    for path, arrays in zip(paths, (BEFORE, AFTER), strict=True):
        WRITERS[name](path, arrays)
    expected = diagnose(BEFORE, AFTER)
    found = diagnose(*paths)
    assert set(found["layer"].values) == set(expected["layer"].values)
    xr.testing.assert_allclose(found.sel(layer=expected["layer"]), expected, rtol=1e-5)


def test_tensors_whole_numbers_and_single_units_are_taken():
    tensors = {name: torch.tensor(values, requires_grad=True) for name, values in BEFORE.items()}
    xr.testing.assert_identical(diagnose(tensors, AFTER), diagnose(BEFORE, AFTER))
    halves = {name: tensor.bfloat16() for name, tensor in tensors.items()}
    rounded = {name: half.float() for name, half in halves.items()}
    xr.testing.assert_identical(diagnose(halves, AFTER), diagnose(rounded, AFTER))
    counts = {"hits": RNG.integers(0, 9, 90)}
    assert diagnose(counts, {"hits": counts["hits"].astype(np.float16)})["cka"].item() == pytest.approx(1, rel=1e-6)


def test_names_of_samples_are_compared_in_order(tmp_path):
    path = tmp_path / "named.nc"
    as_dataset(BEFORE).assign(sample_id=("sample", IDS)).to_netcdf(path)
    assert diagnose(path, path)["regime"].sizes == {"layer": 2}
    with pytest.raises(UserError, match=r"same samples in the same order, but sample 0 is image 0 and image 1$"):
        diagnose(path, BEFORE | {"sample_id": IDS[[1, 0, *range(2, 90)]]})
    with pytest.raises(UserError, match=r"must have the same samples, got 80 in layer conv1 of after, not 90$"):
        diagnose(BEFORE, {name: values[:80] for name, values in AFTER.items()})


def test_layers_that_only_one_side_has_can_be_left_out():
    with pytest.raises(UserError, match=r"after lacks the layer fc\.0"):
        diagnose(BEFORE, {"conv1": AFTER["conv1"]}, layers=["fc.0"])
    with pytest.raises(UserError, match=r"lacks the layer layer; .* \(an array by itself is a layer called layer\)$"):
        diagnose(BEFORE, AFTER["conv1"])
    assert diagnose(BEFORE["conv1"], np.ones((90, 2)))["regime"].item() == "constant"
    assert diagnose(BEFORE, {"conv1": AFTER["conv1"]}, layers=["conv1"])["layer"].item() == "conv1"


@pytest.mark.parametrize("kind", ["npz", "npy", "nc", "safetensors"])
def test_files_that_cannot_be_read_are_refused(kind, tmp_path):
    path = tmp_path / f"a.{kind}"
    path.write_bytes(b"not what its name says" * 9)
    with pytest.raises(UserError, match=rf"a\.{kind} cannot be read"):
        diagnose(path, BEFORE)
    with pytest.raises(UserError, match=r"a\.pt must be of one of the kinds \.npz, \.npy, \.nc, \.safetensors"):
        diagnose(tmp_path / "a.pt", BEFORE)


def test_an_archive_with_two_arrays_of_one_name_is_refused(tmp_path):
    np.savez(tmp_path / "a.npz", conv1=BEFORE["conv1"])
    with zipfile.ZipFile(tmp_path / "a.npz", "a") as archive:
        archive.writestr("conv1", archive.read("conv1.npy"))
    with pytest.raises(UserError, match=r"a\.npz has two arrays of one name"):
        diagnose(tmp_path / "a.npz", BEFORE)
