"""Everything that is trained on the main task: from a pretrained network, from scratch, or together with the auxiliary
task; both layers or the readout alone."""

import math
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np

from carryover.config.parameters import parameter
from carryover.families.contract import Piece, crossed
from carryover.families.diagonal import dataset, task
from carryover.networks.diagonal import Weights
from carryover.streams import generator
from carryover.tasks import sparse

PRETRAINED = ("finetuning", "finetuning_probe")
STARTS_FROM = {"protocol": PRETRAINED}
SCRATCH = ("single_task", "single_task_probe", "multi_task")
PROTOCOLS = (*SCRATCH, *PRETRAINED)

EXACT_RISK = True  # it is over all inputs, so that what is chosen by it was not chosen on test data


@dataclass(frozen=True, kw_only=True)
class Parameters(task.Training):
    protocol: str = parameter("finetuning", "finetuning starts from the pretrained network, single_task from scratch, "
                              "multi_task learns both tasks at once; a probe trains the readout alone",
                              choices=PROTOCOLS, axis=True)  # fmt: skip
    solver: str = parameter("exact", "exact limit, adaptive gradient flow, plain gradient descent, or the minimiser of "
                            "the Q penalty (eq 22), which takes both paths to start alike",
                            choices=("exact", "flow", "descent", "symmetric"), axis=True)  # fmt: skip
    samples: tuple[int, ...] = parameter((16,), "main-task samples", minimum=1)
    main_features: tuple[int, ...] = parameter((40,), "active dimensions of the main task", minimum=1)
    main_norm: str = parameter("l2", "its coefficients are ±1/√k (l2) or ±1/k (l1)", choices=("l1", "l2"))
    overlap: tuple[float, ...] = parameter((1.0,), "fraction of them that are auxiliary ones", minimum=0, maximum=1)
    rescale: tuple[float, ...] = parameter((1.0,), "factors on the weights before training", above=0,
                                           when={"protocol": ("single_task", "finetuning")})  # fmt: skip
    rescaled: str = parameter("both", "layers that the factors multiply: the first one, or both, after the readout's "
                              "reset; the published risks are those of both", choices=("first", "both"),
                              when={"protocol": ("single_task", "finetuning")})  # fmt: skip
    readout_scale: float = parameter(1e-3, "readout weights after the reset", above=0, when={"protocol": PRETRAINED})
    initial_scale: tuple[float, ...] = parameter((1e-3,), "values of all four weight vectors at the start", above=0,
                                                 when={"protocol": SCRATCH})  # fmt: skip
    auxiliary_samples: int = parameter(1024, "auxiliary samples", minimum=1, when={"protocol": ("multi_task",)})
    weighting: str = parameter("samples", "the loss of both tasks is the mean over all samples, as the published risks "
                               "say, or the sum of each task's own mean", choices=("samples", "tasks"),
                               when={"protocol": ("multi_task",)})  # fmt: skip
    learning_rate: float = parameter(0.1, "step of gradient descent", above=0, when={"solver": ("descent",)})


def problems(p, shard):
    """A piece for each number of samples; UserError for a main task without room and pretrained networks of others."""
    shard.check_sizes({"dimension": ("input", p.dimension)})
    conditions = list(product(shard.seeds, p.main_features, p.overlap))
    scales = [math.nan] if p.protocol in PRETRAINED else p.initial_scale
    starts = list(product(p.rescale, scales))
    axes = {"main_features": p.main_features, "overlap": p.overlap, "rescale": p.rescale, "initial_scale": scales}
    columns = crossed(seed=shard.seeds, **axes)
    auxiliary = np.stack([task.auxiliary_teacher(p, shard.experiment, seed)[2] for seed in columns["seed"].tolist()])
    for samples in p.samples:
        problem = _problem(p, shard, conditions, starts, samples)
        kept = partial(dataset.variables, problem, auxiliary)
        outputs = ("main", "auxiliary")[: len(problem.X)]
        yield Piece(problem, columns | {"samples": samples}, kept, dataset.MEANING, outputs)


def _problem(p, shard, conditions, starts, samples):
    """The data sets of the conditions (seed, features, overlap), and a network for each start (rescale, scale)."""
    X, y, teachers = [], [], []
    for seed, features, overlap in conditions:
        order, signs, _ = task.auxiliary_teacher(p, shard.experiment, seed)
        teacher = sparse.main_teacher(order, signs, p.auxiliary_features, features, overlap, p.main_norm)
        rng = generator(shard.experiment, (str(features), str(float(overlap))), seed, "inputs")  # 1 is 1.0
        X.append(sparse.sphere(rng, samples, p.dimension))
        y.append(X[-1] @ teacher)
        teachers.append(teacher)
    Xs, ys = [np.stack(X)], [task.targets(p, np.stack(y))]
    if p.protocol == "multi_task":
        pairs = [task.auxiliary_data(p, shard.experiment, seed, p.auxiliary_samples) for seed, *_ in conditions]
        Xs.append(np.stack([X for X, _ in pairs]))
        ys.append(task.targets(p, np.stack([y for _, y in pairs])))
    draw = np.repeat(np.arange(len(conditions)), len(starts))
    rescale, scale = np.tile(np.array(starts, dtype=float), (len(conditions), 1)).T
    start = _start(p, [conditions[d][0] for d in draw], rescale, scale, len(Xs), shard)
    layers = ("second",) if p.protocol.endswith("_probe") else ("first", "second")
    sizes = np.array([X.shape[1] for X in Xs])
    weights = tuple(sizes / sizes.sum()) if p.weighting == "samples" else None
    return task.Problem(Xs, ys, draw, start, np.stack(teachers)[draw], layers, weights)


def _start(p, seeds, rescale, scale, outputs, shard):
    """Weights before the first step: a pretrained first layer under a new readout, or small ones; then rescaled."""
    if p.protocol in PRETRAINED:
        rows, second = shard.rows(seed=seeds), np.full((len(seeds), outputs, p.dimension), p.readout_scale)
        start = Weights(
            *(shard.pretrained[name].values[rows] for name in ("first_plus", "first_minus")), second, second
        )
    else:
        start = task.small_weights(len(seeds), outputs, p.dimension, scale)
    first, second = rescale[:, None], (rescale if p.rescaled == "both" else np.ones_like(rescale))[:, None, None]
    return Weights(
        start.first_plus * first, start.first_minus * first, start.second_plus * second, start.second_minus * second
    )
