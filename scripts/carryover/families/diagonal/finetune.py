"""Everything that is trained on the main task: from a pretrained network, from scratch, or together with the auxiliary
task; both layers or the readout alone. `p` are the stage's parameters, `shard` is a `stages.Shard`."""

from functools import partial
from itertools import product

import numpy as np

from carryover.families.diagonal import pretrain
from carryover.families.diagonal.parameters import PRETRAINED
from carryover.families.stages import Batch, cartesian_product
from carryover.networks.diagonal import Weights
from carryover.streams import generator
from carryover.tasks import sparse
from carryover.training.diagonal import Problem


def problems(p, shard):
    """A batch for each number of samples; UserError for a main task without room."""
    experiment, seeds = shard.experiment, shard.seeds
    outputs = ("main", "auxiliary") if p.protocol == "multi_task" else ("main",)
    layers = ("second",) if p.protocol.endswith("_probe") else ("first", "second")
    scales = (np.nan,) if p.protocol in PRETRAINED else p.initial_scale
    columns = cartesian_product(
        seed=seeds, main_features=p.main_features, overlap=p.overlap, rescale=p.rescale, initial_scale=scales
    )
    start, place = _start(p, shard, columns, len(outputs)), shard.places(columns["seed"])
    auxiliary = [pretrain.auxiliary_teacher(p, experiment, seed) for seed in seeds]
    auxiliary_teacher = np.stack([beta for _, _, beta in auxiliary])
    conditions = list(product(range(len(seeds)), p.main_features, p.overlap))  # each has a data set, for all starts
    # `columns` has rescale and initial_scale last, so the runs of a condition are next to each other.
    sets = np.repeat(np.arange(len(conditions)), len(p.rescale) * len(scales))
    teacher = np.stack([
        sparse.main_teacher(*auxiliary[seed][:2], p.auxiliary_features, features, overlap, p.main_norm)  # type: ignore[call-arg]
        for seed, features, overlap in conditions
    ])  # fmt: skip
    for samples in p.samples:
        streams = [generator(experiment, (str(features), str(float(overlap))), seeds[seed], "inputs")  # 1 is 1.0
                   for seed, features, overlap in conditions]  # fmt: skip
        inputs = np.stack([sparse.sphere(rng, samples, p.dimension) for rng in streams])
        tasks = [pretrain.task(p, inputs, teacher, sets)]
        if p.protocol == "multi_task":
            inputs = shard.draw(sparse.sphere, "auxiliary inputs", p.auxiliary_samples, p.dimension)
            tasks.append(pretrain.task(p, inputs, auxiliary_teacher, place))
        sizes = np.array([task.y.shape[1] for task in tasks])
        # The loss of both tasks is the mean over all samples, as the published risks say.
        problem = Problem(tasks, start, teacher[sets], layers, tuple(sizes / sizes.sum()))
        variables = partial(pretrain.variables, problem, auxiliary_teacher[place])
        yield Batch(problem, columns | {"samples": samples}, variables, pretrain.MEANING, outputs)


def _start(p, shard, columns, outputs):
    """Initial `Weights`, first layers (runs, D) and readouts (runs, outputs, D).

    They are a pretrained first layer and readouts of `p.readout_scale`, or, from scratch, all of the run's initial
    scale. The run's rescaling factor then multiplies the first layer, and for `p.rescaled` "both" the readouts too.
    `columns` is {coordinate: (runs,) values}.
    """
    shape, rescale = (len(columns["seed"]), outputs, p.dimension), columns["rescale"][:, None]
    if p.protocol in PRETRAINED:
        rows, second = shard.rows(seed=columns["seed"]), np.full(shape, p.readout_scale)
        plus, minus = (shard.pretrained[name].values[rows] for name in ("first_plus", "first_minus"))
    else:
        second = np.full(shape, columns["initial_scale"][:, None, None])
        plus = minus = second[:, 0]
    second = second * rescale[..., None] if p.rescaled == "both" else second
    return Weights(plus * rescale, minus * rescale, second, second)
