"""Classification tasks on subsets of a set's classes: all of them, a pair, or those that a pair leaves for pretraining.

"Features are fate" (figure 8d) pretrains on 98 of CIFAR-100's classes and finetunes on the other two; on the ten digits
it is 8 and 2. A task holds where its images stand in the set, so that they are read by the batch:
`images.train[task.train[batch]]`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from carryover.errors import UserError
from carryover.streams import generator
from carryover.tasks.images import ImageSet


@dataclass(frozen=True)
class ClassTask:
    """Telling some classes apart; labels are numbered from 0 in the order of `classes`.

    Training and test images come from the two parts of an `ImageSet`, and so have none in common.
    """

    classes: tuple[int, ...]  # labels in the set
    train: np.ndarray  # (n,) indices of training images, in increasing order where all are taken
    train_labels: np.ndarray  # (n,)
    test: np.ndarray  # (k,) indices of test images, in increasing order
    test_labels: np.ndarray  # (k,)


def class_task(images: ImageSet, classes: Sequence[int | str]) -> ClassTask:
    """The task of telling `classes`, different ones, as numbers or texts, apart, with all their images.

    Raises UserError for a class that has no image for training or for the test.
    """
    classes = tuple(map(int, classes))
    number, parts = np.zeros(images.classes, dtype=np.int64), []
    for part, labels in (("training", images.train_labels), ("test", images.test_labels)):
        if missing := sorted(set(classes) - set(labels.tolist())):
            raise UserError(f"classes names {missing}, of which there are no {part} images: leave these out.")
        number[list(classes)] = np.arange(len(classes))
        chosen = np.flatnonzero(np.isin(labels, classes))
        parts += [chosen, number[labels[chosen]]]
    return ClassTask(classes, *parts)


def sampled(task: ClassTask, samples: int, rng: np.random.Generator) -> ClassTask:
    """The task with `samples` of its training images, drawn without replacement, and all of its test images.

    Classes have equally many, or one more in some that are drawn, too. From generators in the same state, fewer samples
    are the first of more.

    Raises UserError where a class has fewer images than its share.
    """
    count = len(task.classes)
    share = -(-samples // count)
    members = [np.flatnonzero(task.train_labels == label) for label in range(count)]
    least, smallest = min((len(known), label) for label, known in enumerate(members))
    if share > least:
        raise UserError(
            f"samples is {samples}, {share} of each of {count} classes, but class {task.classes[smallest]} has {least} "
            "training images: lower samples."
        )
    rounds = np.stack([rng.permutation(members[label])[:least] for label in rng.permutation(count)], axis=1)
    chosen = rounds.ravel()[:samples]
    return replace(task, train=task.train[chosen], train_labels=task.train_labels[chosen])


def tested(task: ClassTask, count: int, rng: np.random.Generator) -> ClassTask:
    """The task with `count` of its test images, drawn without replacement; with all for 0, or where it has no more."""
    if not 0 < count < len(task.test):
        return task
    chosen = np.sort(rng.permutation(len(task.test))[:count])
    return replace(task, test=task.test[chosen], test_labels=task.test_labels[chosen])


def other_classes(classes: int, held_out: Sequence[int]) -> tuple[int, ...]:
    """The classes 0 to classes − 1 but those `held_out`."""
    return tuple(label for label in range(classes) if label not in held_out)


def left_out(classes: int, count: int, experiment: str, seed: int) -> tuple[int, ...]:
    """`count` of the classes 0 to classes − 1, in increasing order, that a seed's pretraining leaves out.

    All sets of so many are as likely. Raises UserError where fewer than two would be left for pretraining.
    """
    if count > classes - 2:
        raise UserError(f"left_out is {count}, but of {classes} classes two must be left for pretraining: lower it.")
    drawn = generator(experiment, "", seed, "classes left out").choice(classes, count, replace=False)
    return tuple(sorted(drawn.tolist()))


def class_sets(classes: Sequence[int], size: int, sets: int, experiment: str, seed: int) -> list[tuple[int, ...]]:
    """`sets` different sets of `size` of the classes, each in increasing order, drawn for a seed of an experiment.

    Fewer sets are the first of more. Raises UserError where there are not as many.
    """
    possible = math.comb(len(classes), size)
    if sets > possible:
        raise UserError(f"tasks is {sets}, but {len(classes)} classes give {possible} sets of {size}.")
    rng, drawn = generator(experiment, "", seed, "class sets"), {}
    while len(drawn) < sets:
        drawn[tuple(sorted(rng.choice(sorted(classes), size, replace=False).tolist()))] = None
    return list(drawn)
