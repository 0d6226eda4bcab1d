"""The papers' own images, which nothing ships: where they are, each family trains two batches of them."""

from pathlib import Path

import numpy as np
import pytest

from carryover.config.plugins import model_of
from carryover.families import stages

ROOT = Path(__file__).resolve().parents[2]
CIFAR = {"network": "resnet18", "width": 4, "stem": "imagenet", "images": "cifar-10-jpeg", "held_out_classes": 2,
         "tasks": 1,
         "device": "cpu"}  # fmt: skip
LEARNT = {"protocol": "single_task", "samples": (8,), "batch_size": 4, "max_epochs": 1}


def folder(images):
    if not (ROOT / "data" / images).is_dir():
        pytest.skip(f"there are no images in data/{images}")
    return {"images": images, "folder": str(ROOT / "data" / images)}


@pytest.mark.extended
def test_two_batches_of_natural_images_are_trained():
    p = model_of("families.convnet", "finetune")(**CIFAR | folder("cifar-10-jpeg"), **LEARNT)
    data = stages.run(p, "toy", [0])
    assert data["evaluations"].item() == 2
    assert np.isfinite(data["loss"]).all()


@pytest.mark.extended
def test_a_pair_of_mnists_tasks_is_trained():
    given = folder("mnist") | {"estimator": "descent_1000"}
    start, end = (model_of("families.image_pairs", stage)(**given) for stage in ("pretrain", "finetune"))
    data = stages.run(end, "toy", [0], stages.run(start, "toy", [0]))
    assert np.isfinite(data["risk_final"]).all()
