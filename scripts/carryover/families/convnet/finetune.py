"""Everything that learns to tell classes apart: from pretrained networks, from scratch, or beside other classes."""

from functools import partial
from itertools import product

import numpy as np

from carryover.errors import UserError
from carryover.families import stages
from carryover.families.contract import Piece
from carryover.families.convnet import pretrain
from carryover.networks.convnet_weights import packed, rescaled, unpacked
from carryover.streams import generator
from carryover.tasks.class_subsets import check_disjoint, class_task, sampled, tested


def problems(p, shard):
    """A piece for each number of samples, with one run per seed, task and factor.

    The last layer is new, and is rescaled with the others. Samples, order and new layers of a seed and task are the
    same for all protocols and factors; fewer samples are part of more. Raises UserError for pretrained networks that
    are of another shape or have seen classes of the task, and as `pretrain.Classes`.
    """
    classes = pretrain.Classes(p, shard.experiment)
    if p.targets == "all" and not p.left_out:
        raise UserError("targets is all, but no classes are left out of pretraining for it: set left_out.")
    numbers = range(p.tasks) if p.targets == "sets" else [p.tasks]
    kinds = list(product(shard.seeds, numbers, p.rescale))
    starts = Starts(classes, p, shard.pretrained, kinds)
    targets = []
    for seed, number, _ in kinds:
        rng = generator(shard.experiment, {"task": number}, seed, "test images")
        targets.append(tested(class_task(classes.set, classes.targets(seed)[number]), p.test_images, rng))
    others = []
    if p.protocol == "multi_task":
        others.append([class_task(classes.set, classes.source(seed, number)) for seed, number, _ in kinds])
    for samples in p.samples:
        rngs = [generator(shard.experiment, {"task": number}, seed, "samples") for seed, number, _ in kinds]
        problem = pretrain.Problem(
            network=classes.network(starts.outputs, kinds[0][0]),
            state=lambda run: starts.rescaled(*kinds[run]),
            tasks=[[sampled(target, samples, rng) for target, rng in zip(targets, rngs, strict=True)], *others],
            images=classes.prepared,
            draws=pretrain.draws(shard.experiment, kinds),
        )
        columns = _columns(p, classes, starts, kinds) | {"samples": samples}
        attributes = classes.attributes() | {"classes": starts.outputs}
        variables = partial(_variables, p, starts, kinds)
        yield Piece(problem, columns, variables, pretrain.MEANING, attributes=attributes)


def _variables(p, starts, kinds, trained):
    """How training went, and the networks before and after it if `keep_weights`."""
    return stages.of_training(trained) | (pretrain.state(trained) | starts.variables(kinds) if p.keep_weights else {})


def _columns(p, classes, starts, kinds):
    """{coordinate: values} of the runs of one number of samples."""
    seeds, tasks, factors = zip(*kinds, strict=True)
    return {
        "seed": seeds,
        "task": tasks,
        "network": p.network,
        "rescaled": p.rescaled,
        "learning_rate": p.learning_rate,
        "weight_decay": p.weight_decay,
        "loss_function": "cross_entropy",
        "rescale": factors,
        "source_classes": [starts.source_classes(seed, number) for seed, number, _ in kinds],
        "target_classes": [pretrain.spelled(classes.targets(seed)[number]) for seed, number, _ in kinds],
    }


class Starts:
    """The networks that training begins from, by seed and task, before they are rescaled."""

    def __init__(self, classes, p, pretrained, kinds):
        self._classes, self._p, self._pretrained = classes, p, pretrained
        seed, number, _ = kinds[0]  # all have as many classes
        besides = len(classes.source(seed, number)) if p.protocol == "multi_task" else 0
        self.outputs = len(classes.targets(seed)[number]) + besides
        self._known = {}  # (seed, task): state
        if pretrained is not None:
            _check_shapes(classes.attributes(), pretrained.attrs)
            self._shape, self._states = classes.network(pretrained.attrs["classes"], 0), pretrained["state"].values

    def rescaled(self, seed, number, factor):
        """The state of a network that is to be trained."""
        return rescaled(self._state(seed, number), factor, self._p.rescaled)

    def source_classes(self, seed, number):
        """'0 1 2' that were, or are, learned besides the task; '' where there are none, or none of this set."""
        if self._pretrained is not None:
            return str(self._pretrained["source_classes"].values[self._row(seed, number)])
        return pretrain.spelled(self._classes.source(seed, number)) if self._p.protocol == "multi_task" else ""

    def variables(self, kinds):
        """The networks so far, and which of them each run (seed, task, …) starts from."""
        rows, states = list(self._known), np.stack([packed(state) for state in self._known.values()])
        places, dims = np.array([rows.index(kind[:2]) for kind in kinds]), ("start_network", "parameter")
        return {
            "start": ("run", places, "network that training began from, before it was rescaled"),
            "start_state": (dims, states, "parameters and buffers before training and rescaling"),
        }

    def _state(self, seed, number):
        """The initial network, and, if there is a pretrained one, all of that but its last layer."""
        if (seed, number) not in self._known:
            state = self._classes.state(self.outputs, seed)
            if self._pretrained is not None:
                new = self._classes.state(self.outputs, seed, f"readout {number}")
                own = tuple(list(state)[-2:])
                state = {name: new[name] if name in own else old for name, old in self._old(seed, number).items()}
            self._known[seed, number] = state
        return self._known[seed, number]

    def _old(self, seed, number):
        row = self._row(seed, number)
        known = [int(label) for label in str(self._pretrained["source_classes"].values[row]).split()]
        check_disjoint(known, self._classes.targets(seed)[number])
        return unpacked(self._shape, self._states[row])

    def _row(self, seed, number):
        kinds = list(zip(*(self._pretrained[name].values.tolist() for name in ("seed", "task")), strict=True))
        for kind in ((seed, number), (seed, -1)):
            if kind in kinds:
                return kinds.index(kind)
        raise UserError(f"the pretrained shard has no network for seed {seed}, task {number}: pretrain as many tasks.")


def _check_shapes(own, others):
    for name in ("network", "width", "stem", "channels"):
        if own[name] != others[name]:
            raise UserError(f"{name} is {own[name]}, but the pretrained networks have {others[name]}.")
