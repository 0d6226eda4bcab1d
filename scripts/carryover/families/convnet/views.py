"""What runs have before they are trained: see `families.forecasts`."""

import copy
from functools import lru_cache

import numpy as np
import torch
from scipy.special import softmax

from carryover.errors import UserError
from carryover.families.forecasts import Start, View
from carryover.measures.gradient_sketches import Sums, readout_gradients
from carryover.networks.convnet_layers import renewing_statistics
from carryover.streams import generator

DRAWN = 2  # networks


def views(problem, p):
    """Yield the `View` of each run, before it is trained.

    Features are the inputs of the last layer. The tangent kernel is of gradients of a random readout of them, for the
    last layer is new. Normalisations have the statistics of the samples, even if training keeps those of pretraining.
    Scratch is represented by `DRAWN` random networks. If the classes of pretraining are known, its readout gives the
    class probabilities.

    Raises UserError for tasks of more than two classes.
    """
    kind, network = type(problem.network), copy.deepcopy(problem.network)
    readouts = problem.pretrained_readouts
    classes = len(readouts[0][1]) if readouts else network.classes
    shape = [classes, *(getattr(network, name) for name in ("width", "stem", "channels"))]
    seeds = [int(generator("forecast", "convnet", seed, "weights").integers(2**63)) for seed in range(DRAWN)]
    fresh = [kind(torch.Generator().manual_seed(seed), *shape) for seed in seeds]

    @lru_cache(maxsize=len(p.rescale))  # runs that differ in the factor have the same samples
    def of_fresh(samples):
        """Features, starts, and class probabilities of the random networks: a list each, at these training images."""
        batch = problem.images.batch("train", np.array(samples))
        found = [_start(one, batch) for one in fresh]
        heads = [tuple(one.get_submodule(one.READOUT).parameters()) for one in fresh]
        return *zip(*found, strict=True), [_probabilities(f, *head) for (f, _), head in zip(found, heads, strict=True)]

    for run, task in enumerate(problem.tasks[0]):
        if len(task.classes) != 2:
            raise UserError("forecast takes tasks of two classes: set classes: 2, and targets: sets.")
        network.load_state_dict(problem.state(run))
        features, own = _start(network, problem.images.batch("train", task.train))
        drawn, scratch, by_fresh = of_fresh(tuple(task.train.tolist()))
        classified = (_probabilities(features, *readouts[run]), by_fresh) if readouts else ()
        yield View(features, drawn, 2.0 * task.train_labels - 1, own, scratch, *classified)


def _probabilities(features, weights, biases):
    """Probabilities (n, classes) that a readout gives to features (n, k)."""
    return softmax(features @ weights.detach().numpy().T + biases.detach().numpy(), axis=1)


def _start(network, batch):
    """Features (n, k) of a batch (n, channels, height, width), and where training of the network starts."""
    with renewing_statistics(network):
        network(batch)
    held: list = []
    handle = network.get_submodule(network.READOUT).register_forward_pre_hook(lambda _, inputs: held.append(inputs[0]))
    rows, sketches, sums = [], [], Sums(0)
    for image in batch:
        network(image[None])
        features = held.pop()[0]
        rows.append(features.detach().double().numpy())
        sketches.append(sums(readout_gradients(features, list(network.parameters()), 0)))
    handle.remove()
    found, below = np.array(rows), np.array(sketches, np.float64)
    probe = found @ found.T
    return found, Start([probe, probe + below @ below.T])
