"""Accuracy of linear classifiers on the features of convolutional networks before and after finetuning."""

import numpy as np
import torch
from sklearn.linear_model import RidgeClassifierCV

from carryover.measures.stages import BATCH, groups, load, network_and_images, test_images
from carryover.runs import measured, naming
from carryover.streams import generator
from carryover.tasks.class_subsets import class_task, sampled

READS = ("folder",)
STRENGTHS = np.logspace(-2, 4, 7)  # of ridge, where features have variance 1 on average


def measure(data, p):
    """Test accuracy (run,) of a ridge classifier on what the last layer reads, before and after finetuning.

    The classifier is fitted to as many training images as finetuning had, other ones, its strength chosen by leave-one-
    out. Before and after, normalisations have the statistics of the test images, and all runs of a task see the same.
    """
    network, prepared = network_and_images(data.attrs, p.device)
    source, found = prepared.images, np.full((data.sizes["run"], 2), np.nan)
    for (start, classes), runs in groups(data).items():
        tested = test_images(source, classes, p.count)
        task = class_task(source, classes.split())
        labels = task.test_labels[np.searchsorted(task.test, tested)]
        for samples in np.unique(data["samples"].values[runs]).tolist():
            trained = sampled(task, samples, generator("linear_probe", "", start, "samples"))
            own = [run for run in runs if data["samples"].values[run] == samples]
            before = data["start_state"].values[start]
            for run in own:
                with naming(data.isel(run=run)):
                    load(network, data["state"].values[run], prepared, tested, True, "after")
                    found[run, 1] = _accuracy(network, prepared, trained, tested, labels)
            load(network, before, prepared, tested, True, "before")
            found[own, 0] = _accuracy(network, prepared, trained, tested, labels)
    return measured(data, {
        "probe_start": ("run", found[:, 0], "accuracy of a linear probe before finetuning"),
        "probe": ("run", found[:, 1], "accuracy of a linear probe after finetuning"),
        "accuracy": ("run", 1 - data["risk_final"].values, "accuracy of the finetuned network"),
    })  # fmt: skip


def _accuracy(network, prepared, trained, tested, labels):
    parts = [_features(network, prepared, *part) for part in (("train", trained.train), ("test", tested))]
    spread = np.sqrt(parts[0].var(axis=0).mean()) or 1.0
    probe = RidgeClassifierCV(STRENGTHS).fit(parts[0] / spread, trained.train_labels)
    return (probe.predict(parts[1] / spread) == labels).mean()


@torch.inference_mode()
def _features(network, prepared, part, indices):
    """(images, units) that the last layer reads."""
    device, rows = next(network.parameters()).device, []
    for first in range(0, len(indices), BATCH):
        *_, (_, pooled) = network.stages(prepared.batch(part, indices[first : first + BATCH], device=device))
        rows.append(pooled.flatten(1).double().cpu().numpy())
    return np.concatenate(rows)
