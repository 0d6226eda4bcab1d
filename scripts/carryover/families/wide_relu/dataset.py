"""The dataset that a stage of wide ReLU networks writes: how well each run learned, and what its bound says."""

import numpy as np

from carryover.families import datasets
from carryover.families.wide_relu import exact
from carryover.networks.relu import Weights
from carryover.theory.kernels import ntk_bound

MEANING = {"distance": "distance |θ_T − θ_S| between target and source, unit vectors"}
BOUNDS = {
    "absolute_risk": "mean of min(|f(x) − θ_T·x|, 1) over test inputs, the risk that theorem 6.1 bounds",
    "start_risk": "the same before training: what the bound must be below to say that training helps",
    "tangent_distance": "root mean square over test inputs of the difference from the limit of infinite width",
    "ntk_norm": "√(ỹᵀ H⁻¹ ỹ) of the residuals ỹ at the start and the tangent kernel's Gram matrix H of infinite width",
    "ntk_norm_linear": "the same where the start is the source's linear function itself, or 0 from scratch",
    "bound": "2 √(ỹᵀ H⁻¹ ỹ / n), the first term of theorem 6.1's bound",
    "corollary": "3 |θ_T − θ_S|, or 3 |θ_T| from scratch, which corollary 6.2 says bounds √(ỹᵀ H⁻¹ ỹ)",
}


def pretrained(source, trained):
    """Variables of networks and their sources (runs, D)."""
    variables = {
        "first": (("run", "unit", "input"), trained.weights.first, "input weights"),
        "second": (("run", "output", "unit"), trained.weights.second, "readout weights ±1/√m"),
        "source": (("run", "input"), source, "unit vector of the source task"),
    }
    return datasets.single(variables) | datasets.of_training(trained)


def finetuned(problem, moved, trained):
    """Variables of runs beside the theorem; `moved` (runs, D) is the linear function that they have to learn anew."""
    limit, norms = exact.outputs(problem, problem.tests), np.empty((2, len(problem.networks)))
    learned, started = limit.copy(), np.empty_like(limit)
    for network in np.unique(problem.networks):
        runs, X, tests = problem.networks == network, problem.X[network], problem.tests[network]
        norms[:, runs] = ntk_bound(X, np.stack([problem.residuals[runs], moved[runs] @ X.T]))
        started[runs] = problem.network(network).outputs(tests)[:, 0]
        if trained.weights is not None:
            learned[runs] = Weights(trained.weights.first[runs], trained.weights.second[runs]).outputs(tests)[..., 0]
    values = {
        "absolute_risk": _absolute(learned, problem.wanted),
        "start_risk": _absolute(started, problem.wanted),
        "tangent_distance": np.sqrt(((learned - limit) ** 2).mean(1)),
        "ntk_norm": norms[0],
        "ntk_norm_linear": norms[1],
        "bound": 2 * norms[0] / np.sqrt(problem.X.shape[1]),
        "corollary": 3 * np.linalg.norm(moved, axis=1),
    }
    return datasets.of_training(trained) | {name: ("run", values[name], text) for name, text in BOUNDS.items()}


def _absolute(outputs, wanted):
    """(runs,) of (runs, tests): the loss is 1-Lipschitz and in [0, 1], as the theorem asks."""
    return np.minimum(np.abs(outputs - wanted), 1).mean(1)
