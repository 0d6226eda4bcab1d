"""Solver: gradient flow of balanced networks, as an ordinary differential equation of their function alone."""

from carryover.training.balanced_flow import balanced_flow

MAX_TIME = 1e9  # of flow; slow directions end before, those of smallest eigenvalues at γ = 1 too
ACCURACY = 1e-6  # of a step, relative


def solve(problem, p, progress=None):
    """`Trained`; its risk is the expected squared error."""
    return balanced_flow(
        problem.data, problem.reduced_targets(), problem.sets, problem.coefficients, depth=problem.depth,
        teacher=problem.teacher, covariance=problem.eigenvalues, tolerance=p.tolerance, max_time=MAX_TIME,
        accuracy=ACCURACY, progress=progress,
    )  # fmt: skip
