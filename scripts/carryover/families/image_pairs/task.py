"""Pairs of binary tasks on classes of images, and the problem of finetuning that is handed to a solver.

"Finetuning with linear teachers", section 4.2: a source task tells class a from b, a target task class c from d, all
four different, as regression to 1 and −1. The paper leaves open which pixels it takes and whether there is an
intercept: there is none here, and `pixels` says whether a mean image is subtracted. Its theory takes pretraining to be
perfect. Then coefficients are largest along what the images hardly vary in, which training would take very long to
learn: a `cutoff` above 0 leaves these directions out.
"""

from dataclasses import dataclass
from itertools import permutations

import numpy as np

from carryover.errors import UserError
from carryover.streams import generator
from carryover.tasks import images as image_sets

MEANING = {
    "pair": "number of the pair of a source and a target task",
    "source_classes": "classes that the source task tells apart",
    "target_classes": "classes that the target task tells apart",
    "cutoff": "share of the largest singular value up to which a direction is left out of a task's coefficients",
    "pixels": "pixels between 0 and 1 (raw), or less the mean of all training images (centred)",
    "samples": "images of the target task",
}


@dataclass(frozen=True)
class Problem:
    """Linear regressions, from each start on every draw of samples: a run is a start, and its errors are means."""

    pixels: np.ndarray  # (draws, n, d)
    labels: np.ndarray  # (draws, n), 1 or −1
    start: np.ndarray  # (runs, d), coefficients before training
    tests: tuple[np.ndarray, np.ndarray]  # pixels (tests, d) and labels (tests,)

    def errors(self, coefficients):
        """Share (runs, draws) of the test images that coefficients (runs, draws, d) misclassify."""
        pixels, labels = self.tests
        return (np.sign(coefficients @ pixels.T) != labels).mean(-1)


def pairs(p, experiment):
    """`pairs` different (a, b, c, d), source and target classes; UserError where the classes do not give as many.

    The classes of a source task are in the order of `classes`: to exchange them in both tasks changes no error.
    """
    order = {label: place for place, label in enumerate(p.classes)}
    possible = [four for four in permutations(p.classes, 4) if order[four[0]] < order[four[1]]]
    if len(possible) < p.pairs:
        raise UserError(
            f"pairs is {p.pairs}, but {len(p.classes)} classes give {len(possible)} pairs of tasks: "
            "lower pairs or add classes."
        )
    drawn = generator(experiment, "", 0, "pairs").choice(len(possible), size=p.pairs, replace=False)
    return [possible[index] for index in drawn]


class Images:
    """The images of the classes that are asked for; every seed holds out others for the test.

    Raises UserError for a class that does not exist or has one image alone.
    """

    def __init__(self, p, experiment):
        self.p, self.experiment = p, experiment
        known = image_sets.images(p.images, p.folder, p.other_images)
        parts = (image_sets.unit_pixels(part, np.float64) for part in (known.train, known.test))
        self.pixels = np.concatenate([part.reshape(len(part), -1) for part in parts])
        self.labels = np.concatenate([known.train_labels, known.test_labels])
        classes, counts = np.unique(self.labels, return_counts=True)
        enough = classes[counts > 1].tolist()
        if missing := [label for label in p.classes if label not in enough]:
            raise UserError(f"classes names {missing}, but the classes with two images or more are {enough}.")

    def split(self, seed):
        """`Split` of one seed."""
        test = np.zeros(len(self.labels), dtype=bool)
        for label in self.p.classes:
            members = np.flatnonzero(self.labels == label)
            order = generator(self.experiment, label, seed, "held out").permutation(members)
            test[order[: max(1, int(self.p.held_out * len(members)))]] = True
        train = np.isin(self.labels, self.p.classes) & ~test
        pixels = self.pixels - self.pixels[train].mean(0) if self.p.pixels == "centred" else self.pixels
        return Split(pixels, self.labels, train, test)


@dataclass(frozen=True)
class Split:
    """Images for training and for the test."""

    pixels: np.ndarray  # (N, d)
    labels: np.ndarray  # (N,)
    train: np.ndarray  # (N,) whether it is for training
    test: np.ndarray  # (N,) whether it is held out

    def members(self, *classes, part="train"):
        """Indices (n,) of the images of these classes, in increasing order."""
        return np.flatnonzero(np.isin(self.labels, classes) & getattr(self, part))

    def task(self, first, second, part="train"):
        """(pixels (n, d), labels (n,)) of a task: 1 for the first class, −1 for the second."""
        chosen = self.members(first, second, part=part)
        return self.pixels[chosen], np.where(self.labels[chosen] == first, 1.0, -1.0)


def named(number, four):
    """{'pair': 0, 'source_classes': '2 3', 'target_classes': '5 6'} of a pair of tasks."""
    return {"pair": number, "source_classes": f"{four[0]} {four[1]}", "target_classes": f"{four[2]} {four[3]}"}
