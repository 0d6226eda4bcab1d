"""The files of MNIST and Fashion-MNIST, written here in the real format."""

import gzip
import hashlib
from dataclasses import replace

import numpy as np
import pytest

from carryover.errors import UserError
from carryover.tasks import idx_files
from carryover.tasks.idx_files import MNIST, idx
from toy.idx_files import packed

KINDS = {"train": 5, "t10k": 3}
IMAGES, LABELS = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"


@pytest.fixture
def arrays():
    rng = np.random.default_rng(0)
    found = {}
    for part, count in KINDS.items():
        found[f"{part}-images-idx3-ubyte"] = rng.integers(256, size=(count, 4, 3))
        found[f"{part}-labels-idx1-ubyte"] = rng.integers(10, size=count)
    return found


@pytest.fixture(params=["", ".gz"], ids=["plain", "gzip"])
def folder(request, arrays, tmp_path):
    for name, array in arrays.items():
        content = packed(array)
        (tmp_path / f"{name}{request.param}").write_bytes(gzip.compress(content) if request.param else content)
    return tmp_path


def refused(folder, other=True, published=MNIST):
    with pytest.raises(UserError) as caught:
        idx(folder, other, published)
    return str(caught.value)


@pytest.fixture
def publish(arrays, monkeypatch):
    """Function that makes what the arrays hold the published files of a set, which it returns."""

    def make(title):
        monkeypatch.setattr(idx_files, "IDX_FILES", {name: array.shape for name, array in arrays.items()})
        sums = {name: hashlib.md5(packed(array)).hexdigest() for name, array in arrays.items()}
        name = {"MNIST": "MNIST", "Fashion-MNIST": "FASHION_MNIST"}[title]
        monkeypatch.setattr(idx_files, name, replace(getattr(idx_files, name), checksums=sums))
        return getattr(idx_files, name)

    return make


def test_files_hold_what_was_written(folder, arrays):
    for part, (images, labels) in zip(KINDS, idx(folder, other=True), strict=True):
        assert (images.dtype, labels.dtype) == (np.uint8, np.int64)
        np.testing.assert_array_equal(images[:, 0], arrays[f"{part}-images-idx3-ubyte"])
        np.testing.assert_array_equal(labels, arrays[f"{part}-labels-idx1-ubyte"])


@pytest.mark.parametrize("title", ["MNIST", "Fashion-MNIST"])
def test_the_published_files_need_no_leave_packed_by_whom_you_like(folder, arrays, publish, title):
    published = publish(title)
    assert [len(labels) for _, labels in idx(folder, published=published)] == [5, 3]
    for path in folder.glob("*.gz"):
        path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()), compresslevel=1, mtime=7))
    assert [len(labels) for _, labels in idx(folder, published=published)] == [5, 3]
    arrays[LABELS][2] = 10
    path = put(folder, LABELS, packed(arrays[LABELS]))
    assert refused(folder, False, publish(title)).startswith(f"{path} holds the label 10, and labels are 0 to 9: put ")
    assert idx(folder, other=True)[0][1][2] == 10


def put(folder, name, content):
    """Another content of a file of the folder, which is packed or not as before."""
    path = next(folder.glob(f"{name}*"))
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def test_other_files_have_to_be_asked_for(folder, arrays, publish):
    path = next(folder.glob(f"{IMAGES}*"))
    assert refused(folder, False).startswith(f"{path} holds 5 × 4 × 3 numbers, not the 60000 × 28 × 28 of MNIST: put ")
    known = publish("MNIST")
    changed = arrays[IMAGES] + (np.arange(60).reshape(5, 4, 3) == 7)
    put(folder, IMAGES, packed(changed))
    found = hashlib.md5(packed(changed)).hexdigest()
    assert refused(folder, False, known) == (
        f"{path} holds other numbers than MNIST, of the MD5 checksum {found}, not {known.checksums[IMAGES]}: put the "
        f"published file {path.name} of MNIST (yann.lecun.com/exdb/mnist) into {folder}."
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda content: b"\x80\x04" + content[2:], "starts with the bytes 80 04 08 03, not 00 00 08 03"),
        (lambda content: content[:2], "starts with the bytes 00 00, not 00 00 08 03"),
        (lambda content: content[:-1], "holds 59 numbers, not the 5 × 4 × 3 that it announces"),
        (lambda content: content[:4] + b"\xff" * 12, "not the 4294967295 × 4294967295 × 4294967295 that it announces"),
    ],
)
def test_a_file_that_is_not_in_the_format_is_named(folder, arrays, change, said):
    path = next(folder.glob(f"{IMAGES}*"))
    content = change(packed(arrays[IMAGES]))
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    message = refused(folder)
    assert said in message
    assert message.startswith(f"{path} ")
    assert message.endswith(f": put the published file {path.name} of MNIST ({MNIST.source}) into {folder}.")


@pytest.mark.parametrize("keep", [slice(0, -6), slice(5, None)], ids=["truncated", "not packed"])
def test_a_damaged_archive_is_named(folder, keep):
    (folder / LABELS).unlink(missing_ok=True)
    path = folder / f"{LABELS}.gz"
    path.write_bytes(gzip.compress(packed(np.arange(5)))[keep])
    assert refused(folder).startswith(f"{path} is truncated or not packed by gzip: put ")


def test_a_missing_file_or_folder_is_named_with_its_place(folder):
    next(folder.glob(f"{LABELS}*")).unlink()
    assert refused(folder) == (
        f"{folder / LABELS} is missing: put the file {LABELS} or {LABELS}.gz of MNIST ({MNIST.source}) into {folder}."
    )
    assert refused(folder / "nowhere").startswith(f"{folder / 'nowhere' / IMAGES} is missing: put ")


@pytest.mark.parametrize(
    ("name", "array", "said"),
    [
        ("t10k-labels-idx1-ubyte", np.arange(4), "t10k-images-idx3-ubyte has 3 images and t10k-labels-idx1-ubyte 4 "),
        ("t10k-images-idx3-ubyte", np.ones((3, 4, 4)), "the images of train and t10k differ in size"),
    ],
)
def test_files_must_belong_together(folder, name, array, said):
    for path in folder.glob(f"{name}*"):
        path.unlink()
    (folder / name).write_bytes(packed(array))
    assert said in refused(folder)
