"""The dataset that a stage of convolutional networks writes: what each run was, and what it learned."""

import numpy as np

from carryover.families import _dataset

MEANING = {
    "task": "number of the set of classes of finetuning; -1: one pretrained network for all of them",
    "source_classes": "classes of pretraining; none for published weights and from scratch",
    "target_classes": "classes that finetuning tells apart",
    "rescaled": "what the factor is on: all that is trained, all but normalisation, or the new last layer",
    "learning_rate": "step of gradient descent",
    "weight_decay": "penalty on the weights",
    "network": "architecture",
}


def columns(kinds, p):
    """{coordinate: (runs,) values} of runs that are (seed, task, …)."""
    seeds, tasks = (np.array([kind[place] for kind in kinds]) for place in (0, 1))
    return {"seed": seeds, "task": tasks, "network": np.array([p.network] * len(kinds))}


def state(trained):
    """The networks themselves, each in the order of its `state_dict`."""
    return {"state": (("run", "parameter"), trained.weights, "parameters and buffers of the network")}


def assemble(trained, runs, extra, attributes):
    """Dataset over `run`: `runs` maps coordinates to (runs,) values, `extra` other variables as in `_dataset`."""
    found = _dataset.assemble(_dataset.of_training(trained) | extra, runs, ("main",), MEANING)
    return found.assign_attrs(attributes)
