"""Accuracy of linear classifiers on the features of convolutional networks before and after finetuning."""

from functools import cache

import numpy as np
import torch
from sklearn.linear_model import RidgeClassifierCV

from carryover.measures.stages import BATCH, load, network_and_images, tested_task
from carryover.runs import measured_by_run
from carryover.streams import generator
from carryover.tasks.image_tasks import sampled

READS = ("folder",)
STRENGTHS = np.logspace(-2, 4, 7)  # of ridge, where features have variance 1 on average


def measure(data, p):
    """Test accuracy (run,) of a ridge classifier on the inputs of the last layer, before and after finetuning.

    The classifier is fitted to other training images than finetuning, equally many, with a penalty chosen by leave-one-
    out. Before and after, normalisations use the statistics of the test images, which all runs of a task share.
    """
    network, prepared = network_and_images(data.attrs, p.device)

    @cache
    def of_start(start, classes, samples):
        """The task that classifiers are fitted to and tested on, and the accuracy before finetuning."""
        rng = generator("linear_probe", "", start, "samples")
        task = sampled(tested_task(prepared.images, classes, p.count), samples, rng)
        load(network, data["start_state"].values[start], prepared, task.test, True, "before")
        return task, _accuracy(network, prepared, task)

    def of_run(run):
        task, before = of_start(int(run["start"]), run["target_classes"].item(), int(run["samples"]))
        load(network, run["state"].values, prepared, task.test, True, "after")
        return {
            "probe_start": (before, "accuracy of a linear probe before finetuning"),
            "probe": (_accuracy(network, prepared, task), "accuracy of a linear probe after finetuning"),
            "accuracy": (1 - run["risk_final"].values, "accuracy of the finetuned network"),
        }

    return measured_by_run(data, of_run)


def _accuracy(network, prepared, task):
    parts = [_features(network, prepared, *part) for part in (("train", task.train), ("test", task.test))]
    spread = np.sqrt(parts[0].var(axis=0).mean()) or 1.0
    probe = RidgeClassifierCV(STRENGTHS).fit(parts[0] / spread, task.train_labels)
    return (probe.predict(parts[1] / spread) == task.test_labels).mean()


@torch.inference_mode()
def _features(network, prepared, part, indices):
    """(images, units) that the last layer reads."""
    device, rows = next(network.parameters()).device, []
    for first in range(0, len(indices), BATCH):
        *_, (_, pooled) = network.stages(prepared.batch(part, indices[first : first + BATCH], device=device))
        rows.append(pooled.flatten(1).double().cpu().numpy())
    return np.concatenate(rows)
