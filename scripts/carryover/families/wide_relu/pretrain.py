"""Linear source and target tasks of wide ReLU networks, the problem that solvers take, and pretraining.

Networks are f(x) = 1/√m Σ_r a_r relu(w_r·x) with fixed signs a_r, |x| = 1: section 6 of "Finetuning with linear
teachers". Weights hold the factor 1/√m in the readout. `p` are the stage's parameters, `shard` is a `stages.Shard`.
"""

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.random import Generator

from carryover.families.stages import Batch, of_training, single_precision
from carryover.networks.relu import Weights
from carryover.tasks.sparse import unit_vectors
from carryover.training.result import Samples


@dataclass(frozen=True)
class Problem:
    """Runs to be trained. Run r starts from the network `task.sets[r]` and sees its inputs; teachers are linear."""

    start: Weights  # first (networks, m, D), second (networks, 1, m)
    task: Samples  # inputs (networks, n, D), unit vectors
    teacher: np.ndarray  # (runs, D), unit vectors
    tests: np.ndarray | None = None  # (networks, tests, D), unit vectors; None in pretraining

    @cached_property
    def test_values(self):
        """What the teachers say of the test inputs, (runs, tests)."""
        return linear(self.teacher, np.asarray(self.tests)[self.task.sets])

    @cached_property
    def residuals(self):
        """ỹ = y − f(X) at the start, (runs, n)."""
        return self.task.y - self.start.outputs(self.task.X)[self.task.sets, :, 0]


def problems(p, shard):
    """One network per seed, trained on samples of the linear source task."""
    X = shard.draw(unit_vectors, "source inputs", p.samples, p.dimension)
    source = shard.draw(teacher, "teacher", p.dimension)
    problem = Problem(initial(p, shard), Samples(X, linear(source, X), np.arange(len(X))), source)
    yield Batch(problem, {"seed": shard.seeds}, partial(_variables, source))


def _variables(source, trained):
    """`Variables` of the pretrained networks, of their teachers `source` (runs, D), and of training."""
    return single_precision({
        "first": (("run", "unit", "input"), trained.weights.first, "input weights"),
        "second": (("run", "output", "unit"), trained.weights.second, "readout weights ±1/√m"),
        "source": (("run", "input"), source, "unit vector of the source task"),
    }) | of_training(trained)  # fmt: skip


def teacher(rng, dimension, distance=0.0):
    """Unit vector θ_T (D,) at this distance from the source's θ_S, along a great circle that is drawn as θ_S is."""
    source, across = rng.standard_normal((2, dimension))
    source /= np.linalg.norm(source)
    across -= (across @ source) * source
    across /= np.linalg.norm(across)
    angle = 2 * np.arcsin(distance / 2)
    return np.cos(angle) * source + np.sin(angle) * across


def linear(teachers, X):
    """θ·x (runs, n) of teachers (runs, D) at inputs (runs, n, D)."""
    return (X @ teachers[..., None])[..., 0]


def initial(p, shard):
    """Networks before training from scratch, one a seed: w_r ~ N(0, κ² I), signs at random."""
    first = shard.draw(Generator.standard_normal, "weights", (p.width, p.dimension))
    signs = shard.draw(Generator.choice, "readout", [-1.0, 1.0], (1, p.width))
    return Weights(p.initial_scale * first, signs / np.sqrt(p.width))
