"""Linear source and target tasks of wide ReLU networks, and the problem that a stage hands to its solver.

Networks are f(x) = 1/√m Σ_r a_r relu(w_r·x) with fixed signs a_r, |x| = 1: section 6 of "Finetuning with linear
teachers". Weights hold the factor 1/√m in the readout.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from carryover.families import stages
from carryover.families.wide_relu import exact
from carryover.networks.relu import Weights
from carryover.streams import generator
from carryover.theory.kernels import ntk_bound, relu_risk

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
    return stages.single(variables) | stages.of_training(trained)


def finetuned(problem, moved, trained):
    """Variables of runs beside the theorem; `moved` (runs, D) is the linear function that they have to learn anew."""
    limit, norms = exact.outputs(problem, problem.tests), np.empty((2, len(problem.networks)))
    learned, started = limit.copy(), np.empty_like(limit)
    for network in np.unique(problem.networks):
        runs, X, tests = problem.networks == network, problem.X[network], problem.tests[network]
        norms[:, runs] = ntk_bound(X, np.stack([problem.residuals[runs], moved[runs] @ X.T]))
        started[runs] = problem.start[network].outputs(tests)[:, 0]
        if trained.weights is not None:
            learned[runs] = trained.weights[runs].outputs(tests)[..., 0]
    values = {
        "absolute_risk": _absolute(learned, problem.wanted),
        "start_risk": _absolute(started, problem.wanted),
        "tangent_distance": np.sqrt(((learned - limit) ** 2).mean(1)),
        "ntk_norm": norms[0],
        "ntk_norm_linear": norms[1],
        "bound": 2 * norms[0] / np.sqrt(problem.X.shape[1]),
        "corollary": 3 * np.linalg.norm(moved, axis=1),
    }
    return stages.of_training(trained) | {name: ("run", values[name], text) for name, text in BOUNDS.items()}


def _absolute(outputs, wanted):
    """(runs,) of (runs, tests): the loss is 1-Lipschitz and in [0, 1], as the theorem asks."""
    return np.minimum(np.abs(outputs - wanted), 1).mean(1)


@dataclass(frozen=True)
class Problem:
    """Runs to be trained. Run r starts from the network `networks[r]` and sees its inputs; teachers are linear."""

    start: Weights  # first (networks, m, D), second (networks, 1, m)
    networks: np.ndarray  # (runs,)
    X: np.ndarray  # (networks, n, D), unit vectors
    teacher: np.ndarray  # (runs, D), unit vectors
    tests: np.ndarray | None = None  # (networks, tests, D), unit vectors; None in pretraining

    @cached_property
    def y(self):
        """Targets (runs, n)."""
        return self._labels(self.X)

    @cached_property
    def wanted(self):
        """What the teachers say of the test inputs, (runs, tests)."""
        return self._labels(self.tests)

    @cached_property
    def residuals(self):
        """ỹ = y − f(X) at the start, (runs, n)."""
        return self.y - self.start.outputs(self.X)[self.networks, :, 0]

    def _labels(self, inputs):
        return (inputs[self.networks] @ self.teacher[..., None])[..., 0]


def teacher(p, experiment, seed, distance=0.0):
    """Unit vector θ_T (D,) at this distance from the source's θ_S, along a great circle that is the seed's."""
    source, across = generator(experiment, "", seed, "teacher").standard_normal((2, p.dimension))
    source /= np.linalg.norm(source)
    across -= (across @ source) * source
    across /= np.linalg.norm(across)
    angle = 2 * np.arcsin(distance / 2)
    return np.cos(angle) * source + np.sin(angle) * across


def inputs(p, experiment, seed, stream, count):
    """Unit vectors (count, D); fewer are the first of more."""
    drawn = generator(experiment, "", seed, stream).standard_normal((count, p.dimension))
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def initial(p, experiment, seeds):
    """Networks before training from scratch: w_r ~ N(0, κ² I), signs at random."""
    first = [generator(experiment, "", seed, "weights").standard_normal((p.width, p.dimension)) for seed in seeds]
    signs = [generator(experiment, "", seed, "readout").choice([-1.0, 1.0], (1, p.width)) for seed in seeds]
    return Weights(p.initial_scale * np.stack(first), np.stack(signs) / np.sqrt(p.width))


def risk(network, theta):
    """Population mean squared error (...) of networks (..., m, D) against linear teachers θ (..., D).

    θ·x = relu(θ·x) − relu(−θ·x), and inputs of length 1 have 1/D of the mean square that `relu_risk` is for.
    """
    directions = np.stack([theta, -theta], axis=-2)
    squares = relu_risk(network.first, network.second[..., 0, :], directions, np.array([1.0, -1.0]))
    return squares / theta.shape[-1]
