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


def test_pictures_are_written_where_they_or_their_data_differ(tmp_path, monkeypatch):
    archived = {"one": "first", "two": "first"}
    monkeypatch.setattr(pictures, "expected", lambda: {f"{name}.png": ("paper", name) for name in archived})
    monkeypatch.setattr(pictures, "digest", lambda _, figure: archived[figure])
    folders = {"pictures": tmp_path / "pictures", "results": tmp_path / "results"}
    drawings = folders["results"] / "paper/figures"
    for folder in (folders["pictures"], drawings):
        folder.mkdir(parents=True)
    drawn(folders["pictures"] / "old.png", "1 of 1")
    for name in archived:
        drawn(drawings / f"{name}.png", "1 of 2")
    old, *stale = ["old.png: no item or page shows it", "one.png: is stale", "two.png: is stale"]
    assert pictures.main(**folders).splitlines() == [old, *stale]
    assert pictures.main("--write", **folders).splitlines() == [old, *stale]
    assert pictures.main("--drawn", **folders).splitlines() == [old]
    archived["one"] = "second"
    assert pictures.main(**folders).splitlines() == [old, stale[0]]
    drawn(drawings / "two.png", "1 of 3")
    assert pictures.main("--drawn", **folders).splitlines() == [old, *stale]


def test_a_digest_is_of_options_archived_data_and_what_is_made_of_them(tmp_path, monkeypatch):
    def config():
        risk = {"compare": "atlas", "data": {"risk": "runs/risk"}, "options": {"parameters": 5}}
        return {"archive": "archive", "comparisons": {"map": risk}, "curves": {"law": {"samples": [1, 2]}},
                "figures": {"one": {"data": {"map": "comparisons/map", "law": "theory/law"},
                                    "options": {"title": "T"}}}}  # fmt: skip

    def found(change=lambda config: None):
        made = config()
        change(made)
        monkeypatch.setattr(findings, "configured", lambda *_: made)
        return pictures.digest("paper", "one")

    monkeypatch.setattr(findings, "ROOT", tmp_path)
    file = tmp_path / "archive/runs/risk.nc.xz"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"first")
    before = found()
    assert found() == before
    others = [
        found(lambda config: config["figures"]["one"]["options"].update(title="U")),
        found(lambda config: config["comparisons"]["map"]["options"].update(parameters=6)),
        found(lambda config: config["curves"]["law"].update(samples=[1])),
    ]
    file.write_bytes(b"second")
    assert len({before, found(), *others}) == 5


def test_committed_pictures_are_of_the_archive():
    assert pictures.main() == 0


@pytest.mark.extended
def test_committed_pictures_show_what_is_drawn_today():
    drawings = (findings.ROOT / f"results/{overlay}/figures/{name}.png" for overlay, name in pictures.ON_PAGES.values())
    if not all(file.is_file() for file in drawings):
        pytest.skip("needs the figures of `make papers` and of config/replay.yaml")
    assert pictures.main("--drawn") == 0
