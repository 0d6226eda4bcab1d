"""Everything that is trained on the main task: from a pretrained network, from scratch, or together with the auxiliary
task; both layers or the readout alone."""

import math
from functools import partial
from itertools import product

import numpy as np

from carryover.families.contract import Piece, cartesian_product
from carryover.families.diagonal import pretrain
from carryover.families.diagonal.parameters import PRETRAINED
from carryover.networks.diagonal import Weights
from carryover.streams import generator
from carryover.tasks import sparse


def problems(p, shard):
    """A piece for each number of samples; UserError for a main task without room and pretrained networks of others."""
    shard.check_sizes({"dimension": ("input", p.dimension)})
    conditions = list(product(shard.seeds, p.main_features, p.overlap))
    scales = [math.nan] if p.protocol in PRETRAINED else p.initial_scale
    starts = list(product(p.rescale, scales))
    axes = {"main_features": p.main_features, "overlap": p.overlap, "rescale": p.rescale, "initial_scale": scales}
    columns = cartesian_product(seed=shard.seeds, **axes)
    seeds = columns["seed"].tolist()
    auxiliary = np.stack([pretrain.auxiliary_teacher(p, shard.experiment, seed)[2] for seed in seeds])
    for samples in p.samples:
        problem = _problem(p, shard, conditions, starts, samples)
        variables = partial(pretrain.variables, problem, auxiliary)
        outputs = ("main", "auxiliary")[: len(problem.X)]
        yield Piece(problem, columns | {"samples": samples}, variables, pretrain.MEANING, outputs)


def _problem(p, shard, conditions, starts, samples):
    """The data sets of the conditions (seed, features, overlap), and a network for each start (rescale, scale)."""
    X, y, teachers = [], [], []
    for seed, features, overlap in conditions:
        order, signs, _ = pretrain.auxiliary_teacher(p, shard.experiment, seed)
        teacher = sparse.main_teacher(order, signs, p.auxiliary_features, features, overlap, p.main_norm)
        rng = generator(shard.experiment, (str(features), str(float(overlap))), seed, "inputs")  # 1 is 1.0
        X.append(sparse.sphere(rng, samples, p.dimension))
        y.append(X[-1] @ teacher)
        teachers.append(teacher)
    Xs, ys = [np.stack(X)], [pretrain.targets(p, np.stack(y))]
    if p.protocol == "multi_task":
        pairs = [pretrain.auxiliary_data(p, shard.experiment, seed, p.auxiliary_samples) for seed, *_ in conditions]
        Xs.append(np.stack([X for X, _ in pairs]))
        ys.append(pretrain.targets(p, np.stack([y for _, y in pairs])))
    draw = np.repeat(np.arange(len(conditions)), len(starts))
    rescale, scale = np.tile(np.array(starts, dtype=float), (len(conditions), 1)).T
    start = _start(p, [conditions[d][0] for d in draw], rescale, scale, len(Xs), shard)
    layers = ("second",) if p.protocol.endswith("_probe") else ("first", "second")
    sizes = np.array([X.shape[1] for X in Xs])
    # The loss of both tasks is the mean over all samples, as the published risks say.
    return pretrain.Problem(Xs, ys, draw, start, np.stack(teachers)[draw], layers, tuple(sizes / sizes.sum()))


def _start(p, seeds, rescale, scale, outputs, shard):
    """Weights before the first step: a pretrained first layer under a new readout, or small ones; then rescaled."""
    if p.protocol in PRETRAINED:
        rows, second = shard.rows(seed=seeds), np.full((len(seeds), outputs, p.dimension), p.readout_scale)
        start = Weights(
            *(shard.pretrained[name].values[rows] for name in ("first_plus", "first_minus")), second, second
        )
    else:
        start = pretrain.small_weights(len(seeds), outputs, p.dimension, scale)
    first, second = rescale[:, None], (rescale if p.rescaled == "both" else np.ones_like(rescale))[:, None, None]
    return Weights(
        start.first_plus * first, start.first_minus * first, start.second_plus * second, start.second_minus * second
    )
