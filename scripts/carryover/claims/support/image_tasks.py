"""Convolutional networks finetuned on several tasks per seed: means over the tasks of each seed, and tasks in words.

Networks of one seed share what they were pretrained on, and its tasks share classes, so that two of its runs are not
independent; seed means are. If seeds draw their tasks among all classes of a set of images, intervals over seeds are
about that set; if classes were named, about tasks of these alone.
"""

import numpy as np
import pandas as pd

from carryover.errors import UserError
from carryover.labels import value_labels
from carryover.runs import coordinates
from carryover.statistics import intervals

PAIRS = 2
IMAGES = {"mnist": "MNIST", "fashion-mnist": "Fashion-MNIST", "cifar-10": "CIFAR-10", "cifar-100": "CIFAR-100",
          "stl-10": "STL-10"}  # fmt: skip


def by_task(runs, quantity):
    """A variable (run,) as a data frame of seeds by numbers of tasks, NaN where there is no run.

    Tasks of the same number differ between seeds. Raises UserError if a seed has several runs of a task.
    """
    columns = {name: values.values for name, values in coordinates(runs).items()}
    frame = pd.DataFrame({**columns, quantity: runs[quantity].values})
    if frame.duplicated(["seed", "task"]).any():
        differ = [name for name in columns if name not in ("seed", "task") and frame[name].nunique() > 1]
        raise UserError(f"a seed has several runs of a task, which differ in {', '.join(differ) or 'nothing'}.")
    return frame.pivot(index="seed", columns="task", values=quantity)


def seed_means(values):
    """Mean over the tasks of each seed, a Series; NaN are left out."""
    return values.mean(axis=1)


def interval(values):
    """(mean, low, high) of the seed means of a table: Student's 95 % interval, NaN for fewer than two seeds."""
    found = intervals.student(seed_means(values), 0.0)
    return found["statistic"], found["low"], found["high"]


def most_common(runs, name):
    """The value of a coordinate that most runs have; the others are controls."""
    values, counts = np.unique(runs[name].values, return_counts=True)
    return values[counts.argmax()].item()


def by_classes(role, data):
    """{name: runs} by the number of classes of the tasks, fewest first: "role_pairs", "role_5_classes", ….

    {role: data} if the tasks have one number of classes, or none.
    """
    if "target_classes" not in data.coords:
        return {role: data}
    counts = np.array([len(str(classes).split()) for classes in data["target_classes"].values])
    known = np.unique(counts).tolist()
    if len(known) == 1:
        return {role: data}
    names = {count: "pairs" if count == PAIRS else f"{count}_classes" for count in known}
    return {f"{role}_{names[count]}": data.isel(run=counts == count) for count in known}


def in_words(runs):
    """'ResNet-18 on 2 classes of digits': the network, and what it is finetuned on."""
    return f"{network_in_words(runs)} on {target_in_words(runs)}"


def network_in_words(runs):
    """'ResNet-18'."""
    network = str(runs["network"].values[0])
    return value_labels(runs, "network").get(network, network)


def target_in_words(runs):
    """'2 classes of digits', or '2 of the classes 5 6 7 of digits' if source and target classes were named apart."""
    target = str(runs["target_classes"].values[0]).split()
    targets, sources = (_classes(runs, name) for name in ("target_classes", "source_classes"))
    named = sources and not set(targets) & set(sources)
    which = f"of the classes {' '.join(targets)}" if named else "classes"
    images = runs.attrs.get("images", "images")
    return f"{len(target)} {which} of {IMAGES.get(images, images)}"


def _classes(runs, name):
    """All classes that runs have, rising."""
    spelled = np.unique(runs[name].values).tolist() if name in runs.coords else []
    return sorted({label for classes in spelled for label in classes.split()}, key=int)
