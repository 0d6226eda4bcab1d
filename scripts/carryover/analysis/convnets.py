"""Convolutional networks, by their classes and factors."""

import numpy as np

from carryover.labels import value_labels

IMAGES = {"mnist": "MNIST", "fashion-mnist": "Fashion-MNIST", "cifar-10": "CIFAR-10", "cifar-100": "CIFAR-100",
          "cifar-10-jpeg": "CIFAR-10 (JPEG copy)", "stl-10": "STL-10"}  # fmt: skip
FACTOR = 0.5


def most_common(runs, name):
    """The value of a coordinate that most runs have; the others are controls."""
    values, counts = np.unique(runs[name].values, return_counts=True)
    return values[counts.argmax()].item()


def by_classes(role, data):
    """Split a dataset of runs by the number of classes of their target tasks: {name: runs}, fewest classes first.

    Names are "role_pairs", "role_5_classes", …, or `role` alone if all tasks have equally many classes.
    """
    # `target_classes` is text: the names of a task's classes, separated by spaces.
    counts = np.array([len(str(classes).split()) for classes in data["target_classes"].values])
    known = np.unique(counts).tolist()
    if len(known) == 1:
        return {role: data}
    names = {count: "pairs" if count == 2 else f"{count}_classes" for count in known}
    return {f"{role}_{names[count]}": data.isel(run=counts == count) for count in known}


def in_words(runs):
    """('ResNet-18', '2 classes of digits'): the network, and what it is finetuned on."""
    network, classes = (str(runs[name].values[0]) for name in ("network", "target_classes"))
    images = runs.attrs.get("images", "images")
    target = f"{len(classes.split())} classes of {IMAGES.get(images, images)}"
    return value_labels(runs, "network").get(network, network), target
