"""Runs of convolutional networks by how many classes their tasks tell apart: each number is a system of its own."""

import numpy as np

from carryover.labels import value_labels

PAIRS = 2
IMAGES = {"mnist": "MNIST", "fashion-mnist": "Fashion-MNIST", "cifar-100": "CIFAR-100", "stl-10": "STL-10"}


def in_words(runs):
    """'ResNet-18 on 2 classes of digits': the network, and what it is finetuned on."""
    return f"{network_in_words(runs)} on {target_in_words(runs)}"


def target_in_words(runs):
    """'2 classes of digits': what runs are finetuned on.

    Where no run is finetuned on what another was pretrained on, the classes were named, and are told: '2 of the classes
    5 6 7 of digits'.
    """
    target = str(runs["target_classes"].values[0]).split()
    targets, sources = (_classes(runs, name) for name in ("target_classes", "source_classes"))
    named = sources and not set(targets) & set(sources)
    those = f"of the classes {' '.join(targets)}" if named else "classes"
    return f"{len(target)} {those} of {images_in_words(runs)}"


def network_in_words(runs):
    """'ResNet-18'."""
    network = str(runs["network"].values[0])
    return value_labels(runs, "network").get(network, network)


def _classes(runs, name):
    """All classes that runs have, rising."""
    spelled = np.unique(runs[name].values).tolist() if name in runs.coords else []
    return sorted({label for classes in spelled for label in classes.split()}, key=int)


def images_in_words(runs):
    """'Fashion-MNIST': the set of images of a dataset, 'images' where it does not say."""
    name = runs.attrs.get("images", "images")
    return IMAGES.get(name, name)


def by_classes(role, data):
    """{name: runs}: those of a role, {role: data}, or, where tasks are of several numbers of classes, of each of them:
    {"role_pairs": …, "role_5_classes": …}, fewest first. Runs without `target_classes` stay together."""
    if "target_classes" not in data.coords:
        return {role: data}
    counts = np.array([len(str(classes).split()) for classes in data["target_classes"].values])
    known = np.unique(counts).tolist()
    if len(known) == 1:
        return {role: data}
    names = {count: "pairs" if count == PAIRS else f"{count}_classes" for count in known}
    return {f"{role}_{names[count]}": data.isel(run=counts == count) for count in known}
