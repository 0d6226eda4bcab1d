"""Classifiers of the target classes: finetuned, trained from scratch, or on target and source classes at once.

`p` are the stage's parameters, `shard` is a `stages.Shard`.
"""

from functools import partial
from itertools import product

import numpy as np

from carryover.errors import UserError
from carryover.families.convnet import pretrain
from carryover.families.stages import Batch, of_training
from carryover.networks.convnet_weights import pack, rescale_state, unpack
from carryover.streams import generator
from carryover.tasks.image_tasks import class_task, limit_test_images, sample_task
from carryover.training.convnet import Problem


def problems(p, shard):
    """A batch for each number of samples, with one run per seed, finetuning task and factor that rescales the start.

    The last layer is new, and is rescaled with the others. All protocols and factors have the same samples, their order
    and the new layer of a seed and task; fewer samples are the first of more. Raises UserError for pretrained networks
    of another shape or that have seen classes of the task, and as `pretrain.Classes`.
    """
    classes, experiment = pretrain.Classes(p, shard.experiment), shard.experiment
    if p.targets == "all" and not p.held_out_classes:
        raise UserError("targets is all, but no classes are left out of pretraining for it: set held_out_classes.")
    starts = list(product(shard.seeds, range(p.tasks) if p.targets == "sets" else [p.tasks]))
    start_of_run, factor_of_run = zip(*product(range(len(starts)), p.rescale), strict=True)
    targets = [classes.targets(seed)[number] for seed, number in starts]
    others = [classes.source(seed, number) for seed, number in starts] if p.protocol == "multi_task" else []
    # multi_task has outputs for the classes of pretraining, too
    outputs = len(targets[0]) + (len(others[0]) if others else 0)  # all have as many
    if shard.pretrained is None:
        sources = [" ".join(map(str, labels)) for labels in others] or [""] * len(starts)
        states, readouts = [classes.state(outputs, seed) for seed, _ in starts], []
    else:
        sources, states, readouts = _pretraining_classes(classes, shard, starts, targets)
    rngs = [generator(experiment, {"task": number}, seed, "test images") for seed, number in starts]
    target_tasks = [limit_test_images(class_task(classes.set, labels), p.test_images, rng)
                    for labels, rng in zip(targets, rngs, strict=True)]  # fmt: skip
    source_tasks = [class_task(classes.set, labels) for labels in others]
    seeds, tasks = zip(*(starts[start] for start in start_of_run), strict=True)
    columns = {
        "seed": seeds, "task": tasks, "network": p.network, "rescaled": p.rescaled, "learning_rate": p.learning_rate,
        "weight_decay": p.weight_decay, "rescale": factor_of_run,
        "source_classes": [sources[start] for start in start_of_run],
        "target_classes": [" ".join(map(str, targets[start])) for start in start_of_run],
    }  # fmt: skip

    def variables(trained):
        """`Variables` of training, and with `keep_weights` those of the networks before and after it."""
        if not p.keep_weights:
            return of_training(trained)
        before = np.stack([pack(state) for state in states]), "parameters and buffers before training and rescaling"
        return of_training(trained) | pretrain.state(trained) | {
            "start": ("run", np.array(start_of_run), "network that training began from, before it was rescaled"),
            "start_state": (("start_network", "parameter"), *before),
        }  # fmt: skip

    for samples in p.samples:
        rngs = [generator(experiment, {"task": number}, seed, "samples") for seed, number in starts]
        samples_of = [sample_task(task, samples, rng) for task, rng in zip(target_tasks, rngs, strict=True)]
        problem = Problem(
            network=classes.network(outputs, starts[0][0]),
            state=lambda run: rescale_state(states[start_of_run[run]], factor_of_run[run], p.rescaled),
            tasks=[[by_start[start] for start in start_of_run] for by_start in (samples_of, source_tasks) if by_start],
            images=classes.prepared,
            draws=partial(pretrain.draw, experiment, [starts[start] for start in start_of_run]),
            pretrained_readouts=[readouts[start] for start in start_of_run] if all(sources) and readouts else (),
        )
        attributes = classes.attributes() | {"classes": outputs}
        yield Batch(problem, columns | {"samples": samples}, variables, pretrain.MEANING, attributes=attributes)


def _pretraining_classes(classes, shard, starts, targets):
    """Three lists with an entry for each (seed, task) of `starts`: classes of pretraining, as '0 1 2'; `state_dict` of
    the pretrained network with a new last layer; and (weights, biases) of its old last layer.

    `targets` are the classes of each task. UserError for pretrained networks of another shape or that saw them.
    """
    attributes, pretrained = classes.attributes(), shard.pretrained
    for name in ("network", "width", "stem", "channels"):
        if attributes[name] != pretrained.attrs[name]:
            raise UserError(f"{name} is {attributes[name]}, but the pretrained networks have {pretrained.attrs[name]}.")
    template, weights = classes.network(pretrained.attrs["classes"], 0), pretrained["state"].values
    shared = -1 in pretrained["task"].values  # one network for all tasks of a seed
    rows = shard.rows(seed=[seed for seed, _ in starts], task=[-1 if shared else number for _, number in starts])
    sources, states, readouts = pretrained["source_classes"].values[rows].tolist(), [], []
    for (seed, number), labels, source, row in zip(starts, targets, sources, rows, strict=True):
        if common := sorted({int(label) for label in source.split()} & set(labels)):
            raise UserError(f"pretraining and finetuning share the classes {common}: hold these out of pretraining.")
        new, old = classes.state(len(labels), seed, f"readout {number}"), unpack(template, weights[row])
        last = list(new)[-2:]  # weights and biases of the last layer
        states.append(old | {name: new[name] for name in last})
        readouts.append(tuple(old[name] for name in last))
    return sources, states, readouts
