"""Every kind of file gives what the mapping gives; what cannot be read is refused by name."""

import netCDF4
import numpy as np
import pytest
import torch
import xarray as xr
from safetensors.numpy import save_file
from safetensors.torch import save_file as save_tensors

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
    "packed.npz": lambda path, arrays: np.savez_compressed(path, **arrays),
    "columns.npz": lambda path, arrays: np.savez(path, **{k: np.asfortranarray(v) for k, v in arrays.items()}),
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


@pytest.mark.parametrize("name", [name for name in WRITERS if "safetensors" not in name])
def test_names_of_samples_are_compared_in_order(name, tmp_path):
    paths = [tmp_path / f"{when}_{name}" for when in ("before", "after")]
    for path, ids in zip(paths, (IDS, IDS[[1, 0, *range(2, 90)]]), strict=True):
        WRITERS[name](path, BEFORE)
        if name.endswith("nc"):
            with netCDF4.Dataset(path, "a") as file:
                file.createVariable("sample_id", str, ("sample",))[:] = ids.astype(object)
        else:
            WRITERS[name](path, BEFORE | {"sample_id": ids})
    assert diagnose(paths[0], paths[0])["regime"].sizes == {"layer": 2}
    with pytest.raises(UserError, match=r"same samples in the same order, but sample 0 is image 0 and image 1$"):
        diagnose(*paths)


def test_layers_that_only_one_side_has_can_be_left_out():
    with pytest.raises(UserError, match=r"after lacks the layer fc\.0"):
        diagnose(BEFORE, {"conv1": AFTER["conv1"]}, layers=["fc.0"])
    with pytest.raises(UserError, match="layers must name at least one layer"):
        diagnose(BEFORE, AFTER, layers=[])
    with pytest.raises(UserError, match=r"^p must be Parameters, as Parameters\(confidence=0\.9\), got dict$"):
        diagnose(BEFORE, AFTER, p={"confidence": 0.9})
    with pytest.raises(UserError, match=r"lacks the layer layer; .* \(an array by itself is a layer called layer\)$"):
        diagnose(BEFORE, AFTER["conv1"])
    with pytest.raises(UserError, match=r"^the layer of after must vary"):
        diagnose(BEFORE["conv1"], np.ones((90, 2)))
    assert diagnose(BEFORE, {"conv1": AFTER["conv1"]}, layers=["conv1"])["layer"].item() == "conv1"


def truncated(path):
    np.savez(path, **BEFORE)
    path.write_bytes(path.read_bytes()[:-3000])


def half(path):
    save_tensors({"conv1": torch.ones(90, 4, dtype=torch.bfloat16)}, path)


@pytest.mark.parametrize(
    ("name", "make", "sentence"),
    [
        ("a.pt", None, r"a\.pt must be of one of the kinds \.npz, \.npy, \.nc, \.safetensors"),
        *(
            (
                f"a.{kind}",
                lambda path: path.write_bytes(b"not what its name says" * 9),
                rf"a\.{kind} cannot be read",
            )
            for kind in ("npz", "npy", "nc", "safetensors")
        ),
        ("a.npz", truncated, r"a\.npz cannot be read"),
        ("a.safetensors", half, r"a\.safetensors cannot be read"),
    ],
)
def test_files_that_cannot_be_read_are_refused(name, make, sentence, tmp_path):
    path = tmp_path / name
    if make:
        make(path)
    with pytest.raises(UserError, match=sentence):
        diagnose(path, BEFORE)
