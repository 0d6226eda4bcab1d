"""The dataset that a stage of convolutional networks writes: what each run was, and what it learned."""

import numpy as np

from carryover.families import datasets

MEANING = {
    "task": "number of the set of classes of finetuning, of a seed; -1: one pretrained network for all of them",
    "source_classes": "classes of pretraining; none for published weights and from scratch",
    "target_classes": "classes that finetuning tells apart",
    "rescaled": "what the factor is on: all that is trained, all but normalisation, or the new last layer",
    "learning_rate": "step of gradient descent",
    "weight_decay": "penalty on the weights",
    "network": "architecture",
}


def columns(kinds, p):
    """{coordinate: values} of runs that are (seed, task, …)."""
    seeds, tasks = (np.array([kind[place] for kind in kinds]) for place in (0, 1))
    return {"seed": seeds, "task": tasks, "network": p.network}


def pretrained(trained):
    """How training went, and the networks themselves."""
    return datasets.of_training(trained) | state(trained)


def state(trained):
    """The networks themselves, each in the order of its `state_dict`."""
    return {"state": (("run", "parameter"), trained.weights, "parameters and buffers of the network")}
