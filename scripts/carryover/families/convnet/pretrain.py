"""Classes of images to pretrain on and to finetune on, and pretraining.

"Feature reuse in multi-task learning and finetuning (appendix)", section F: a network pretrained on some classes is
finetuned to classify others. A finetuning task is a set of classes. Pretraining has all other classes, or, for all
tasks of a seed alike, all but those that are drawn as `held_out_classes`. Each seed draws its own tasks, so that
intervals over seeds cover the choice of classes, too. Here `p` are the stage's parameters, `shard` is a `stages.Shard`.
"""

import math
from collections.abc import Sequence
from functools import cache, partial
from itertools import product

import numpy as np
import torch

from carryover.errors import UserError
from carryover.families.convnet.parameters import Task
from carryover.families.stages import Batch, of_training
from carryover.networks.convnet import NETWORKS
from carryover.streams import generator
from carryover.tasks import images as image_sets
from carryover.tasks.image_tasks import PreparedImages, class_task
from carryover.training.convnet import Problem

MEANING = {
    "task": "number of the set of classes of finetuning, of a seed; -1: one pretrained network for all of them",
    "source_classes": "classes of pretraining; none for published weights and from scratch",
    "target_classes": "classes that finetuning tells apart",
    "rescaled": "what the factor is on: all that is trained, all but normalisation, or the new last layer",
    "learning_rate": "step of gradient descent",
    "weight_decay": "penalty on the weights",
    "network": "architecture",
}


def problems(p, shard):
    """One network per seed and finetuning task, or per seed where all its tasks share it.

    Initial weights are those of single-task learning. Raises UserError as `Classes`.
    """
    classes, published = Classes(p, shard.experiment), p.solver == "published"
    tasks = [-1] if p.held_out_classes or published else range(p.tasks)
    networks = list(product(shard.seeds, tasks))
    # Published weights were trained on other classes, so their last layer is arbitrary and never used.
    label_sets = [classes.targets(seed)[0] if published else classes.source(seed, number) for seed, number in networks]
    sources = [class_task(classes.set, labels) for labels in label_sets]
    problem = Problem(
        network=classes.network(len(sources[0].classes), networks[0][0]),
        state=lambda run: classes.state(len(sources[run].classes), networks[run][0]),
        tasks=[sources],
        images=classes.prepared,
        draws=partial(draw, shard.experiment, networks),
    )
    seeds, places = zip(*networks, strict=True)
    names = ["" if published else " ".join(map(str, source.classes)) for source in sources]
    runs = {"seed": seeds, "task": places, "network": p.network, "source_classes": names}
    attributes = classes.attributes() | {"classes": len(sources[0].classes)}
    yield Batch(problem, runs, lambda trained: of_training(trained) | state(trained), MEANING,
                attributes=attributes)  # fmt: skip


def state(trained):
    """The networks themselves, each in the order of its `state_dict`."""
    return {"state": (("run", "parameter"), trained.weights, "parameters and buffers of the network")}


class Classes:
    """The set of images, and which classes of it are pretrained on and finetuned on.

    Raises UserError for files as `tasks.images.images`, and for classes that are too few.
    """

    def __init__(self, p: Task, experiment: str) -> None:
        self.p, self.experiment = p, experiment
        self.set = image_sets.images(p.images, p.folder)
        # Mean and standard deviation of pixels for published weights; None: those of the training images.
        published = NETWORKS[p.network].PIXELS if p.normalisation == "network" else None
        self.prepared = PreparedImages(self.set, p.pixels, p.crop, p.flip, published)
        # `state(classes, seed, stream)` is the `state_dict` of a new `network`; cached, so callers must not modify it.
        self.state = cache(lambda *network: self.network(*network).state_dict())

    def targets(self, seed: int) -> list[tuple[int, ...]]:
        """Sets of classes, as sorted labels: one for each finetuning task of a seed, in the order of their numbers, and
        last the set from which they are drawn: the classes held out from pretraining, or else all."""
        p, count = self.p, self.set.classes
        left = tuple(range(count))
        if p.held_out_classes:
            if p.held_out_classes > count - 2:
                two = f"of {count} classes two must be left for pretraining"
                raise UserError(f"held_out_classes is {p.held_out_classes}, but {two}: lower it.")
            drawn = generator(self.experiment, "", seed, "classes left out").choice(
                count, p.held_out_classes, replace=False
            )
            left = tuple(sorted(drawn.tolist()))
        possible = math.comb(len(left), p.classes)
        if p.tasks > possible:
            raise UserError(f"tasks is {p.tasks}, but {len(left)} classes give {possible} sets of {p.classes}.")
        rng = generator(self.experiment, "", seed, "class sets")
        sets: dict = {}
        while len(sets) < p.tasks:  # keys are distinct sets in the order drawn: fewer tasks are the first of more
            sets[tuple(sorted(rng.choice(left, p.classes, replace=False).tolist()))] = None
        return [*sets, left]

    def source(self, seed: int, number: int) -> tuple[int, ...]:
        """Classes to pretrain on for a seed's finetuning task of this number."""
        held_out = self.targets(seed)[-1 if self.p.held_out_classes else number]
        return tuple(label for label in range(self.set.classes) if label not in held_out)

    def network(self, classes: int, seed: int, stream: str = "weights") -> torch.nn.Module:
        """A network with `classes` outputs and its initial weights; UserError if images are too small for it."""
        kind = NETWORKS[self.p.network]
        pixels = self.p.pixels or min(self.set.train.shape[2:])
        if pixels < kind.SMALLEST[self.p.stem]:
            least = f"{kind.SMALLEST[self.p.stem]} with the stem {self.p.stem}"
            raise UserError(f"{self.p.network} takes images from {least}, not of {pixels} pixels: raise pixels.")
        start = torch.Generator().manual_seed(int(generator(self.experiment, "", seed, stream).integers(2**63)))
        return kind(start, classes, self.p.width, self.p.stem, self.prepared.channels)

    def attributes(self) -> dict[str, str | int]:
        """Parameters that a measure needs to rebuild the networks and to prepare their images."""
        names = ("folder", "images", "network", "normalisation", "pixels", "stem", "width")
        return {**{name: getattr(self.p, name) for name in names}, "channels": self.prepared.channels}


def draw(experiment: str, kinds: Sequence[tuple[int, int]], run: int, use: str, number: int) -> np.random.Generator:
    """The random generator for one use by a run; runs of the same kind, (seed, task), have the same one."""
    seed, task = kinds[run]
    return generator(experiment, {"task": task, "number": number}, seed, use)
