"""Every figure is drawn as figure.py draws it: without a screen, in the project's style."""

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

STYLE = Path(__file__).resolve().parents[2] / "config/figures.mplstyle"


@pytest.fixture(autouse=True)
def style():
    backend = mpl.get_backend()
    plt.switch_backend("agg")
    with mpl.rc_context(), plt.style.context(STYLE):
        yield
    plt.close("all")
    plt.switch_backend(backend)
