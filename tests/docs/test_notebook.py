"""The notebook runs from beginning to end and draws its pictures anew."""

import shutil
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from toy.small_project import ENVIRONMENT, ROOT

pytestmark = pytest.mark.extended
PICTURES = ("archived.png", "own.png", "mine.png")


def test_the_notebook_draws_the_pictures_of_its_page(tmp_path):
    for part in ("Snakefile", "rules", "scripts", "config", "envs", "profiles", "resources", "docs/notebook"):
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
        copy(ROOT / part, tmp_path / part)
    for picture in PICTURES:
        (tmp_path / "docs/notebook" / picture).unlink()
    command = [sys.executable, "docs/notebook/notebook.py"]
    environment = ENVIRONMENT | {"PYTHONPATH": str(tmp_path / "scripts")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    for picture in PICTURES:
        shown, drawn = (np.asarray(Image.open(folder / "docs/notebook" / picture).convert("L"), dtype=float)
                        for folder in (ROOT, tmp_path))  # fmt: skip
        assert shown.shape == drawn.shape
        assert np.mean(np.abs(shown - drawn) > 64) < 0.01  # other processors round otherwise
