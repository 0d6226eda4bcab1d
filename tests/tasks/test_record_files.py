"""CIFAR-100's and STL-10's files, written here byte by byte in the real formats."""

import hashlib
import io
import tarfile
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from carryover.errors import UserError
from carryover.tasks import record_files
from carryover.tasks.record_files import CIFAR100, STL10, cifar100, stl10

COUNTS = {"train": 4, "test": 3}


def cifar_files(parts):
    """A record is coarse label, fine label, and the planes of an image, row by row."""
    return {
        f"{part}.bin": b"".join(
            bytes([7, label])
            + bytes(image[c, row, column] for c in range(3) for row in range(32) for column in range(32))
            for image, label in zip(images, labels, strict=True)
        )
        for part, (images, labels) in parts.items()
    }


def stl_files(parts):
    """Images are planes, column by column; labels are from 1."""
    files = {}
    for part, (images, labels) in parts.items():
        order = [(c, row, column) for c in range(3) for column in range(96) for row in range(96)]
        files[f"{part}_X.bin"] = b"".join(bytes(image[place] for place in order) for image in images)
        files[f"{part}_y.bin"] = bytes(label + 1 for label in labels)
    return files


KINDS = {
    "cifar": (cifar100, CIFAR100, cifar_files, 32, [0, 99, 5, 31]),
    "stl": (stl10, STL10, stl_files, 96, [0, 9, 3, 3]),
}


class Case:
    """A small set in the format of a kind, and where its files are put."""

    def __init__(self, kind, folder):
        self.read, self.published, write, side, labels = KINDS[kind]
        rng = np.random.default_rng(0)
        images = {part: rng.integers(256, size=(count, 3, side, side)) for part, count in COUNTS.items()}
        self.parts = {part: (images[part], labels[:count]) for part, count in COUNTS.items()}
        self.files, self.folder = write(self.parts), folder
        self.archive = folder / self.published.archive

    def plain(self, place=""):
        (self.folder / place).mkdir(exist_ok=True)
        for name, content in self.files.items():
            (self.folder / place / name).write_bytes(content)

    def packed(self):
        with tarfile.open(self.archive, "w:gz") as archive:
            for name, content in {"readme.txt": b"", **self.files}.items():
                member = tarfile.TarInfo(f"{self.published.folder}/{name}")
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))

    def check(self, other=True):
        for (images, labels), found in zip(self.parts.values(), self.read(self.folder, other), strict=True):
            assert (found[0].dtype, found[1].dtype) == (np.uint8, np.int64)
            np.testing.assert_array_equal(found[0], images)
            np.testing.assert_array_equal(found[1], labels)

    def refused(self, other=True):
        with pytest.raises(UserError) as caught:
            self.read(self.folder, other)
        return str(caught.value)


@pytest.fixture(params=list(KINDS))
def case(request, tmp_path):
    return Case(request.param, tmp_path)


def test_files_hold_what_was_written(case):
    case.packed()
    case.check()
    case.plain(case.published.folder)  # goes before the archive, which is not looked at any more
    case.archive.write_bytes(b"")
    case.check()
    case.archive.unlink()
    case.plain()
    case.check()


@pytest.mark.parametrize("kind", list(KINDS))
def test_plain_files_of_the_published_size_stay_on_disk(kind, tmp_path):
    read, published = KINDS[kind][:2]
    for name, (count, size) in published.files.items():
        with (tmp_path / name).open("wb") as file:
            if size == 1:
                file.write(b"\x01" * count)
            else:
                file.truncate(count * size)
    tracemalloc.start()
    try:
        parts = read(tmp_path)
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()
    counts = [count for count, size in published.files.values() if size > 1]
    assert [len(images) for images, _ in parts] == counts


def test_the_published_archive_needs_no_leave(case, monkeypatch):
    case.packed()
    checksum = hashlib.md5(case.archive.read_bytes()).hexdigest()
    said = f"{case.archive} has the MD5 checksum {checksum}, not {case.published.checksum} as published: "
    assert case.refused(other=False) == said + (
        f"put the published file {case.archive.name} of {case.published.title} ({case.published.source}) into "
        f"{case.folder}."
    )
    known = {name: (len(case.files[name]) // size, size) for name, (_, size) in case.published.files.items()}
    name = "CIFAR100" if case.read is cifar100 else "STL10"
    monkeypatch.setattr(record_files, name, replace(case.published, checksum=checksum, files=known))
    case.check(other=False)


def test_other_plain_files_have_to_be_asked_for(case):
    case.plain()
    name, (count, _) = next(iter(case.published.files.items()))
    assert case.refused(other=False).startswith(f"{case.folder / name} has 4 records, not the {count} of ")


@pytest.mark.parametrize("change", [lambda content: content[:-1], lambda content: content + b"\0", lambda content: b""])
@pytest.mark.parametrize("packed", [False, True])
def test_files_hold_whole_records(case, change, packed):
    name, (_, size) = next(iter(case.published.files.items()))
    case.files[name] = change(case.files[name])
    (case.packed if packed else case.plain)()
    found = f"{len(case.files[name])} bytes, which are not whole records of {size} bytes: put "
    expected = f"{case.archive} has {name} of {found}" if packed else f"{case.folder / name} has {found}"
    assert case.refused().startswith(expected)


@pytest.mark.parametrize(
    ("kind", "name", "place", "label", "limits"),
    [
        ("cifar", "test.bin", 1, 100, "0 to 99"),
        ("stl", "test_y.bin", 2, 0, "1 to 10"),
        ("stl", "train_y.bin", 1, 11, "1 to 10"),
    ],
)
def test_labels_are_those_of_the_set(tmp_path, kind, name, place, label, limits):
    case = Case(kind, tmp_path)
    case.files[name] = case.files[name][:place] + bytes([label]) + case.files[name][place + 1 :]
    case.plain()
    assert case.refused().startswith(f"{tmp_path / name} holds the label {label}, and labels are {limits}: put ")


@pytest.mark.parametrize("keep", [slice(0, 2000), slice(0, -3000), slice(5, None), slice(0, 0)])
def test_a_damaged_archive_is_named(case, keep):
    case.packed()
    case.archive.write_bytes(case.archive.read_bytes()[keep])
    assert case.refused().startswith(f"{case.archive} is truncated or no tar archive packed by gzip: put ")


def test_what_is_missing_is_named_with_its_place(case):
    name = list(case.files)[-1]
    first = case.folder / next(iter(case.files))
    named = f"{case.published.title} ({case.published.source})"
    wanted = f"the file {first.name} or {case.archive.name} of {named}"
    assert case.refused() == f"{first} is missing: put {wanted} into {case.folder}."
    del case.files[name]
    case.packed()
    assert case.refused().startswith(f"{case.archive} holds no file {name}: put ")
    case.plain()
    wanted = f"put the file {name} of {named} into {case.folder}."  # the archive is not looked at now
    assert case.refused() == f"{case.folder / name} is missing: {wanted}"
