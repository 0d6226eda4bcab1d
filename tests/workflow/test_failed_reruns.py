"""A rerun that failed is tried again by every later run, whatever that asks for, until it succeeds."""

import os
import signal

import numpy as np
import pytest

from toy.idx_files import packed
from toy.small_project import DESCENT, EXACT

pytestmark = [pytest.mark.extended, pytest.mark.xdist_group("workflow")]

RISK, FIGURE = "results/tiny/risk.nc", "results/figures/tiny_risk.png"


def rate(project, value):
    config = project.config()
    config["experiments"]["tiny"]["finetune"]["grids"]["simulated"]["learning_rate"] = value
    project.configure(config)


def fails(project, *arguments, saying):
    done = project.snakemake(*arguments)
    assert done.code == 1
    assert saying in done.text
    assert "Nothing to be done" not in done.text


def test_a_rerun_that_was_killed_is_tried_again(project):
    rate(project, 0.021)
    project.start()
    os.kill(project.at_work(DESCENT), signal.SIGKILL)
    assert project.end().code == 1
    again = {"finetune": 1, "measure": 1, "collect": 2, "figure": 1}
    assert project.would_run() == again
    assert project.would_run(FIGURE) == {"finetune": 1, "collect": 1, "figure": 1}
    project.make()
    assert project.would_run() == {}


@pytest.mark.parametrize(
    ("file", "made", "stands"),
    [
        ("scripts/carryover/measures/sparsity.py", "measure", "results/tiny/sparsity.nc"),
        ("scripts/carryover/families/diagonal/pretrain.py", "problems", EXACT),  # two stages above what is asked for
    ],
)
def test_a_rerun_whose_code_raises_is_tried_again(project, finished, file, made, stands):
    text = (project.folder / file).read_text()
    head, found, rest = text.partition(f"\ndef {made}(")
    assert found, f"{file} no longer has {made}: mend this test"
    signature, end, body = rest.partition(":\n")
    (project.folder / file).write_text(f"{head}{found}{signature}{end}    raise RuntimeError('not today')\n{body}")
    for _ in range(3):
        fails(project, "results/tiny/sparsity.nc", saying="not today")
    assert (project.folder / stands).exists()
    (project.folder / file).write_text(text)
    project.make()
    kept = project.results()
    assert kept == {path: data for path, data in finished.results().items() if path in kept}
    assert {RISK, FIGURE} <= kept.keys()


def test_a_file_from_outside_that_was_damaged_is_tried_again(fresh):
    """Images that a user names; what is collected of them stands, and its shard is gone."""
    rng, names = np.random.default_rng(0), ("train", "t10k")
    folder = fresh.folder / "images"
    folder.mkdir()
    for name in names:
        labels = np.repeat(np.arange(4), 5)
        for kind, array in (("images-idx3", rng.integers(256, size=(20, 3, 3))), ("labels-idx1", labels)):
            (folder / f"{name}-{kind}-ubyte").write_bytes(packed(array))
    task = {"images": "mnist", "folder": "images", "other_images": True, "classes": [0, 1, 2, 3], "pairs": 1,
            "held_out": 0.4}  # fmt: skip
    experiment = {"family": "image_pairs", "seeds": 1, "task": task, "measures": {"bounds": {}, "risk": {}},
                  "finetune": {"protocol": "single_task", "samples": 3, "draws": 1}}  # fmt: skip
    fresh.configure({"experiments": {"pairs": experiment}})
    fresh.make()
    images = folder / "train-images-idx3-ubyte"
    whole = images.read_bytes()
    images.write_bytes(whole[:50])
    for target in ([], [], ["results/pairs/bounds.nc"]):
        fails(fresh, *target, saying="images/train-images-idx3-ubyte")
    images.write_bytes(whole)
    fresh.make()
    assert fresh.would_run() == {}
