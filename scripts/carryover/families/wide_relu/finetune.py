"""Everything that learns the target task: the first layer, from the pretrained one or from scratch.

`p` are the stage's parameters, `shard` is a `stages.Shard`.
"""

from functools import partial

import numpy as np

from carryover.families.stages import Batch, cartesian_product, of_training
from carryover.families.wide_relu import pretrain, solvers
from carryover.networks.relu import Weights
from carryover.tasks.sparse import unit_vectors
from carryover.theory.kernels import infinite_width_gram, ntk_bound
from carryover.training.result import Samples

TEST_SAMPLES = 1000  # inputs on which absolute risk and the distance from the limit are measured
MEANING = {"distance": "distance |θ_T − θ_S| between target and source, unit vectors"}


def problems(p, shard):
    """A batch for each number of samples, with one run per seed and distance.

    Inputs depend on the seed alone, and fewer are part of more. Runs from scratch have the same targets as those of
    finetuning.
    """
    columns, pretrained = cartesian_product(seed=shard.seeds, distance=p.distance), shard.pretrained
    networks = shard.places(columns["seed"])
    targets = [shard.draw(pretrain.teacher, "teacher", p.dimension, distance) for distance in p.distance]
    teacher = np.stack(targets, axis=1).reshape(-1, p.dimension)
    if pretrained is None:
        start, moved = pretrain.initial(p, shard), teacher
    else:
        start = Weights.of_dataset(pretrained)[shard.rows(seed=shard.seeds)]
        moved = teacher - shard.draw(pretrain.teacher, "teacher", p.dimension)[networks]
    tests = shard.draw(unit_vectors, "test inputs", TEST_SAMPLES, p.dimension)
    for samples in p.samples:
        X = shard.draw(unit_vectors, "inputs", samples, p.dimension)
        task = Samples(X, pretrain.linear(teacher, X[networks]), networks)
        problem = pretrain.Problem(start, task, teacher, tests)
        yield Batch(problem, columns | {"samples": samples}, partial(_variables, problem, moved), MEANING)


def _variables(problem, moved, trained):
    """`Variables` of training, and what theorem 6.1 and corollary 6.2 say about it.

    `moved` (runs, D) is the linear function that training has to add: θ_T − θ_S, or θ_T from scratch. A `Trained`
    without weights is the limit of infinite width itself.
    """
    task, limit, norms = problem.task, solvers.limit(problem, problem.tests), np.empty((2, len(problem.teacher)))
    learned, started, distance = limit.copy(), np.empty_like(limit), np.zeros(len(limit))
    # Rows of `norms`: √(ỹᵀ H⁻¹ ỹ) of the residuals ỹ at the start, and of the values of the linear function `moved`.
    for network in np.unique(task.sets):
        runs, X, tests = task.sets == network, task.X[network], problem.tests[network]
        norms[:, runs] = ntk_bound(X, np.stack([problem.residuals[runs], moved[runs] @ X.T]))
        started[runs] = problem.start[network].outputs(tests)[:, 0]
        if trained.weights is not None:
            learned[runs] = trained.weights[runs].outputs(tests)[..., 0]
            distance[runs] = [_gram_distance(first, X) for first in trained.weights.first[runs]]
    # The theorem's loss is 1-Lipschitz and in [0, 1].
    risk, start_risk = (np.minimum(np.abs(f - problem.test_values), 1).mean(1) for f in (learned, started))
    return of_training(trained) | {name: ("run", values, text) for name, values, text in (
        ("absolute_risk", risk, "mean of min(|f(x) − θ_T·x|, 1) over test inputs, the risk that theorem 6.1 bounds"),
        ("start_risk", start_risk, "the same before training: what the bound must be below to say that training helps"),
        ("tangent_distance", np.sqrt(((learned - limit) ** 2).mean(1)),
         "root mean square over test inputs of the difference from the limit of infinite width"),
        ("gram_distance", distance,
         "Frobenius norm of H(t) − H as a share of that of H, Gram matrices of the tangent kernel after training and "
         "of infinite width"),
        ("ntk_norm", norms[0],
         "√(ỹᵀ H⁻¹ ỹ) of the residuals ỹ at the start and the tangent kernel's Gram matrix H of infinite width"),
        ("ntk_norm_linear", norms[1],
         "the same where the start is the source's linear function itself, or 0 from scratch"),
        ("bound", 2 * norms[0] / np.sqrt(task.y.shape[1]), "2 √(ỹᵀ H⁻¹ ỹ / n), the first term of theorem 6.1's bound"),
        ("corollary", 3 * np.linalg.norm(moved, axis=1),
         "3 |θ_T − θ_S|, or 3 |θ_T| from scratch, which corollary 6.2 says bounds √(ỹᵀ H⁻¹ ỹ)"),
    )}  # fmt: skip


def _gram_distance(first, X):
    """‖H − H^∞‖/‖H^∞‖ (Frobenius), H_ij = x_i·x_j times the share of the units (m, D) that are on at both inputs."""
    on, endless = (X @ first.T > 0).astype(float), infinite_width_gram(X)
    return np.linalg.norm(X @ X.T * (on @ on.T) / len(first) - endless) / np.linalg.norm(endless)
