"""Solver: gradient descent at a rate of `learning_rate` · width, input weights kept on the sphere, exact risks."""

from carryover.families.mean_field import trained
from carryover.training.population import population_descent
from carryover.training.relu import gradient_descent

PORTABLE = "distribution"  # units that start small choose their place early


def solve(problem, p, progress=None):
    """`Trained`. Losses are half the mean squared error, so that on samples the trainer's rate is half of `p`'s."""

    def on_population(teacher, start, **asked):
        return population_descent(teacher, start, learning_rate=p.learning_rate, progress=progress, **asked)

    def on_samples(tasks, start, max_steps, **asked):
        return gradient_descent(
            tasks, start, learning_rate=p.learning_rate / 2, max_epochs=max_steps, precision=p.precision,
            progress=progress, **asked,
        )  # fmt: skip

    return trained.run(problem, p, on_population, on_samples)
