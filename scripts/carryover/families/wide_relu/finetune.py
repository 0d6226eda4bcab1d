"""Everything that learns the target task: the first layer, from the pretrained one or from scratch."""

from functools import partial

import numpy as np

from carryover.families.contract import Piece, cartesian_product
from carryover.families.wide_relu import task
from carryover.networks.relu import Weights


def problems(p, shard):
    """A piece for each number of samples, with one run per seed and distance.

    Inputs depend on the seed alone, and fewer are part of more. Runs from scratch have the same targets as those of
    finetuning. Raises UserError for pretrained networks of other sizes.
    """
    seeds, experiment, pretrained = shard.seeds, shard.experiment, shard.pretrained
    shard.check_sizes({"width": ("unit", p.width), "dimension": ("input", p.dimension)})
    start = task.initial(p, experiment, seeds) if pretrained is None else _started(shard)
    networks, distance = cartesian_product(network=range(len(seeds)), distance=p.distance).values()
    teacher = [task.teacher(p, experiment, seeds[k], d) for k, d in zip(networks.tolist(), distance, strict=True)]
    moved = np.stack(teacher)
    if pretrained is not None:
        moved = moved - np.stack([task.teacher(p, experiment, seed) for seed in seeds])[networks]
    tests = [task.inputs(p, experiment, seed, "test inputs", p.test_samples) for seed in seeds]
    for samples in p.samples:
        X = [task.inputs(p, experiment, seed, "inputs", samples) for seed in seeds]
        problem = task.Problem(start, networks, np.stack(X), np.stack(teacher), np.stack(tests))
        columns = {"seed": np.array(seeds)[networks], "distance": distance, "samples": samples}
        columns["loss_function"] = "squared"
        yield Piece(problem, columns, partial(task.finetuned, problem, moved), task.MEANING)


def _started(shard):
    """The pretrained networks of the seeds, in their order."""
    rows = shard.rows(seed=shard.seeds)
    first, second = (shard.pretrained[name].values[rows].astype(np.float64) for name in ("first", "second"))
    return Weights(first, second)
