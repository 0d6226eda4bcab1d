"""Figures are drawn in the project's style on Matplotlib's defaults, whatever their user has set."""

from pathlib import Path

import matplotlib
import pytest

from carryover.errors import UserError
from carryover.figures.drawing import style

ROOT = Path(__file__).resolve().parents[3]
STYLE = ROOT / "config/figures.mplstyle"


@pytest.fixture(autouse=True)
def left_alone():
    with matplotlib.rc_context():
        yield


@pytest.mark.parametrize("path", [None, STYLE])
def test_what_was_set_before_is_forgotten(path):
    style.use(path)
    expected = dict(matplotlib.rcParams)
    matplotlib.rcParams.update({"axes.facecolor": "lime", "font.size": 30, "lines.linewidth": 9})
    style.use(path)
    assert dict(matplotlib.rcParams) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "# fine\naxes.facecolour: lime\n",
            r"mine, line 2: axes.facecolour is no setting of Matplotlib; close are axes.f",
        ),
        ("font.size: \udcff\n", "mine cannot be read"),
    ],
)
def test_a_misspelt_setting_is_named(text, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(UserError, match=said):
        style.use(Path("mine"))
    with pytest.raises(UserError, match="none cannot be read: No such file"):
        style.use(Path("none"))
