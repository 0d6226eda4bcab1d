"""Accuracy of linear classifiers on the features of convolutional networks before and after finetuning."""

from functools import cache
from typing import Literal

import numpy as np
import torch
from pydantic import PositiveInt
from sklearn.linear_model import RidgeClassifierCV

from carryover.config import plugins
from carryover.config.parameters import Model, parameter
from carryover.measures.stages import BATCH, choose_test_images, load, network_and_images
from carryover.runs import measure_each_run
from carryover.streams import generator
from carryover.tasks.image_tasks import sample_task

STRENGTHS = np.logspace(-2, 4, 7)  # of ridge, where features have variance 1 on average


class LinearProbe(Model):
    count: PositiveInt = parameter(500, "test images of the task at most")
    device: Literal["auto", "cpu", "cuda"] = parameter("auto", "where the networks are")


@plugins.measure(needs=["state", "start_state"], applies_to={"protocol": ("finetuning",)}, files=["folder"])
def linear_probe(data, p: LinearProbe):
    """Test accuracy (run,) of a ridge classifier on the inputs of the last layer, before and after finetuning.

    The classifier is fitted to other training images than finetuning, equally many, with a penalty chosen by leave-one-
    out. Before and after, normalisations use the statistics of the test images, which all runs of a task share.
    """
    network, prepared = network_and_images(data.attrs, p.device)

    @cache
    def of_start(start, classes, samples):
        """The task that classifiers are fitted to and tested on, and the accuracy before finetuning."""
        rng = generator("linear_probe", "", start, "samples")
        task = sample_task(choose_test_images(prepared.images, classes, p.count), samples, rng)
        load(network, data["start_state"].values[start], prepared, task.test, True)
        return task, _accuracy(network, prepared, task)

    def of_run(run):
        task, before = of_start(int(run["start"]), run["target_classes"].item(), int(run["samples"]))
        load(network, run["state"].values, prepared, task.test, True)
        return {
            "probe_start": (before, "accuracy of a linear probe before finetuning"),
            "probe": (_accuracy(network, prepared, task), "accuracy of a linear probe after finetuning"),
            "accuracy": (1 - run["risk_final"].values, "accuracy of the finetuned network"),
        }

    return measure_each_run(data, of_run)


@torch.inference_mode()
def _accuracy(network, prepared, task):
    """Test accuracy, a float, of a ridge classifier of a task's images on the inputs of the network's last layer."""
    device = next(network.parameters()).device
    features: dict[str, list] = {"train": [], "test": []}  # (images, units) of batches
    for part, indices in (("train", task.train), ("test", task.test)):
        for first in range(0, len(indices), BATCH):
            *_, (_, pooled) = network.stage_outputs(prepared.batch(part, indices[first : first + BATCH], device=device))
            features[part].append(pooled.flatten(1).double().cpu().numpy())
    fitted, new = (np.concatenate(rows) for rows in features.values())
    spread = np.sqrt(fitted.var(axis=0).mean()) or 1.0
    probe = RidgeClassifierCV(STRENGTHS).fit(fitted / spread, task.train_labels)
    return (probe.predict(new / spread) == task.test_labels).mean()
