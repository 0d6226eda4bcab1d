"""Figures are drawn in the project's style on Matplotlib's defaults, whatever their user has set."""

import os
import subprocess
import sys
from pathlib import Path

import matplotlib
import numpy as np
import pytest

from carryover.drawing import style
from carryover.errors import UserError
from toy import diagnosed_networks as networks

ROOT = Path(__file__).resolve().parents[2]
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
        ("axes.facecolor: limes\n", "mine: .*'limes' does not look like a color"),
        ("nonsense\n", "mine, line 1: 'nonsense' must be a setting and its value with a colon between them"),
        ("font.size: big\n", "mine: .*font.size: Could not convert 'big' to float"),
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


@pytest.mark.slow
def test_a_matplotlibrc_of_the_users_changes_no_figure(tmp_path):
    np.savez(tmp_path / "before.npz", a=networks.pretrained(300))
    np.savez(tmp_path / "after.npz", a=networks.selected(300))
    (tmp_path / "matplotlibrc").write_text("axes.facecolor: lime\nfont.size: 30\n")
    made = []
    for name, variables in (("plain", {}), ("limed", {"MATPLOTLIBRC": str(tmp_path / "matplotlibrc")})):
        words = ["--pretrained", "before.npz", "--finetuned", "after.npz", "-o", name]
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "scripts"), **variables}
        command = [sys.executable, ROOT / "scripts/diagnose.py", *words]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        made.append((tmp_path / name / "diagnosis.png").read_bytes())
    assert made[0] == made[1]
