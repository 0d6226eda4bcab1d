"""Tasks of deep linear networks, the problem that solvers take, and pretraining on the source task.

`p` are the stage's parameters, `shard` is a `stages.Shard`. d is the input dimension, k the rank of inputs.
"""

from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
from numpy.random import Generator

from carryover.errors import UserError
from carryover.families.stages import Batch, cartesian_product, of_training, single_precision
from carryover.networks.deep_linear import Weights, rank_one_network
from carryover.tasks.sparse import unit_vectors
from carryover.training.linear_flow import Factored
from carryover.training.result import Samples

MEANING = {
    "depth": "layers, with the readout",
    "frozen": "first layers that are not trained",
    "pretrain_scale": "standard deviation of weights before pretraining, 0 in its limit; NaN from scratch",
    "gamma": "samples per input dimension, n/d",
    "angle": ("angle between source and target task", "pi"),
    "noise": "standard deviation of the label noise",
    "relation": "how the target is made of the source",
    "target_norm": "norm of the target's coefficients",
    "source_norm": "norm of the source's coefficients",
    "stretch": "factor of the source in the target",
    "deviation": "norm of the rest of the target, in units of the source's",
    "ridge": "strength of the ridge penalty on the readout",
    "weight_decay": "strength of weight decay",
}


@dataclass(frozen=True)
class Problem:
    """Networks of one depth to be trained on data sets of one size."""

    task: Samples
    data: list[Factored]  # factors of each set of the task's inputs
    start: Weights | None  # (runs, …), for solvers that begin there; None for networks of rank one
    coefficients: np.ndarray  # (runs, d), of the start
    teacher: np.ndarray  # (runs, d)
    depth: int
    eigenvalues: np.ndarray  # (d,) of the inputs' covariance, along the axes
    ridge: np.ndarray  # (runs,)
    weight_decay: np.ndarray  # (runs,)
    frozen: int = 0  # first layers that are not trained

    def project_targets(self):
        """Uᵀy of every run, (runs, k)."""
        return np.stack([self.data[s].targets(y) for s, y in zip(self.task.sets, self.task.y, strict=True)])

    def risk(self, runs, coefficients):
        """Expected squared error of functions (·, d) of some runs, (·,)."""
        return (self.eigenvalues * (coefficients - self.teacher[runs]) ** 2).sum(1)


def problems(p, shard):
    """A batch for each depth and initial scale: one network per seed and source norm, trained on the population loss of
    its source."""
    columns, spectrum = cartesian_product(seed=shard.seeds, source_norm=p.source_norm), eigenvalues(p)
    places, nothing = shard.places(columns["seed"]), np.zeros(len(columns["seed"]))
    source = shard.draw(directions, "teacher", p.dimension)[places, 0] * columns["source_norm"][:, None]
    data = Factored.population(spectrum)  # X = Σ^{1/2}, y = Σ^{1/2} β*, all runs on this one set
    task = Samples(data.directions[None], source * np.sqrt(spectrum), nothing.astype(int))
    for depth, scale in product(p.depth, (0.0,) if p.solver == "exact" else p.initial_scale):
        start, coefficients = None, source
        if scale > 0:
            start = small_weights(p, shard, depth, scale)[places]
            coefficients = start.coefficients()
        problem = Problem(task, [data], start, coefficients, source, depth, spectrum, nothing, nothing)
        yield Batch(
            problem, columns | {"depth": depth, "pretrain_scale": scale}, partial(_variables, p, problem), MEANING
        )


def _variables(p, problem, trained):
    """`variables`, the share of the first direction in the power of the features Φ (d, d), its cosine with the source,
    and after descent the weights.

    The exact limit and balanced flow leave networks of rank one, which their coefficients determine. Depths of a shard
    share one array, so layers that a network lacks of the deepest are NaN.
    """
    source, weights = problem.teacher, {}
    share, feature = np.ones(len(source)), trained.weights.coefficients  # of rank one unless it descended
    if p.solver == "descent":
        network, most = trained.weights.full(), max(p.depth)
        left, values, _ = np.linalg.svd(network.features())
        share, feature = values[:, 0] ** 2 / (values**2).sum(1), left[:, :, 0]
        room = ((0, 0), (0, most - problem.depth), (0, 0), (0, 0))
        hidden = np.pad(network.hidden, room, constant_values=np.nan)
        weights = single_precision({
            "hidden": (("run", "layer", "row", "column"), hidden, "weights of the layers before the readout"),
            "readout": (("run", "row"), network.readout, "readout weights"),
        }) | {"layer": ("layer", np.arange(1, most), "layer")}  # fmt: skip
    lengths = np.linalg.norm(feature, axis=1) * np.linalg.norm(source, axis=1)
    cosine = np.abs((feature * source).sum(1)) / lengths
    return variables(problem, {
        "feature_share": ("run", share, "share of the pretrained features' power that is of rank one"),
        "feature_alignment": ("run", cosine, "cosine of that one feature with the source task"),
        **weights,
    }, trained)  # fmt: skip


def variables(problem, extra, trained):
    """`Variables` of trained networks, of their teachers and of training, together with the `extra` ones."""
    coefficients = ("run", "output", "input")
    return single_precision({
        "coefficients": (coefficients, trained.weights.coefficients[:, None], "coefficients of the network's function"),
        "teacher": (("run", "input"), problem.teacher, "coefficients of the task that is learned"),
    }) | of_training(trained) | extra  # fmt: skip


def eigenvalues(p):
    """(d,) of the inputs' covariance, along the axes; UserError where there are more leading ones than dimensions."""
    if p.leading > p.dimension:
        raise UserError(f"leading is {p.leading}, but dimension only {p.dimension}.")
    return np.where(np.arange(p.dimension) < p.leading, p.leading_eigenvalue, p.eigenvalue)


def directions(rng, dimension):
    """(2, d): source and ν, orthonormal; a target at the angle θ is cos θ · source + sin θ · ν."""
    return np.linalg.qr(rng.standard_normal((dimension, 2)))[0].T


def small_weights(p, shard, depth, scale):
    """Networks as at the start of training from scratch, one a seed: every weight N(0, scale²).

    For the solver balanced, of rank one, every layer of the norm `scale`, so that the coefficients have the norm
    scale^L; deep networks leave small random weights only after millions of steps.
    """
    d = p.dimension  # the condition below makes networks of different depths independent
    if p.solver == "balanced":
        units = shard.draw(unit_vectors, "weights", 1, d, condition=depth)[:, 0]
        return rank_one_network(scale**depth * units, depth)
    rows = shard.draw(Generator.standard_normal, "weights", ((depth - 1) * d + 1, d), condition=depth) * scale
    return Weights(rows[:, :-1].reshape(len(rows), depth - 1, d, d), rows[:, -1])
