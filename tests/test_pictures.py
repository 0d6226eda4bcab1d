"""Committed pictures show what is drawn from the archive."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

import findings
import pictures


def drawn(file, title):
    figure = Figure(figsize=(9, 8))
    figure.subplots(3, 3)[0, 0].set_title(title)
    figure.savefig(file, dpi=160)
    return file


@pytest.mark.parametrize("width", [640, 1200])
def test_another_digit_is_another_picture_and_rounding_is_not(tmp_path, width):
    committed, same, other = (
        pictures.scaled(drawn(tmp_path / "figure.png", f"linear transfer, {counts} right"), width)
        for counts in ("36 of 45", "36 of 45", "37 of 45")
    )
    assert pictures.alike(committed, same)
    assert not pictures.alike(committed, other)
    assert not pictures.alike(committed, committed.crop((0, 0, width, 9)))
    noise = np.random.default_rng(0).integers(-3, 4, (*committed.size[::-1], 3))
    rounded = np.clip(np.asarray(committed.convert("RGB")) + noise, 0, 255).astype(np.uint8)
    assert pictures.alike(committed, Image.fromarray(rounded))


def test_pictures_are_written_where_they_differ(tmp_path, monkeypatch):
    monkeypatch.setattr(pictures, "expected", lambda: {"one.png": ("one.png", 640), "two.png": ("two.png", 640)})
    folders = {"pictures": tmp_path / "pictures", "results": tmp_path / "results"}
    for folder in folders.values():
        folder.mkdir()
    drawn(folders["results"] / "one.png", "1 of 2")
    drawn(folders["pictures"] / "old.png", "1 of 1")
    lasting = ["old.png: no item or page shows it", "two.png: there is no results/two.png"]
    assert pictures.main("--write", **folders).splitlines() == [
        lasting[0], "one.png: shows another state than results/one.png", lasting[1],
    ]  # fmt: skip
    assert pictures.main(**folders).splitlines() == lasting


@pytest.mark.extended
def test_committed_pictures_show_what_is_drawn_today():
    if not all((findings.ROOT / "results" / figure).is_file() for figure in pictures.WIDE.values()):
        pytest.skip("needs the figures of `make papers` and of config/replay.yaml")
    assert pictures.main() == 0
