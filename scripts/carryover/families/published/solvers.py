"""Solvers of the published runs: their descent, and what they fitted.

They take a `training.published.Problem` and the parameters `p` of a stage, and return `Trained`.
"""

from bisect import bisect_left

import numpy as np
from numpy.linalg import eigh

from carryover.families.published.parameters import Pretrain
from carryover.networks import relu
from carryover.training.kernel_ridge import kernel
from carryover.training.published import SEEN_EVERY, descend
from carryover.training.relu_flow import gradient_flow
from carryover.training.result import Trained

PORTABLE = {"descent": "distribution"}
"""Long training in single precision enlarges rounding."""
STRENGTHS = np.logspace(-5, 10, 100)


def descent(problem, p):
    """The released code's gradient descent; networks as pretrained are left as they are."""
    if isinstance(problem, Trained):
        return problem
    if isinstance(p, Pretrain) and "pretraining" in p.ours:
        idle = np.square(problem.tasks[0].y).mean(1)
        return gradient_flow(problem.tasks, problem.start, tolerance=1e-8 * idle, accuracy=0.03, max_steps=10_000,
                             device=p.device)  # fmt: skip
    return descend(problem, p.device)


def fitted(problem, p):
    """Ridge regression of ReLU probes and kernels, the descent of diagonal probes in closed form."""
    runs = range(len(problem.last))
    if isinstance(problem.start, relu.Weights):
        found = [ridge(problem, run, p.protocol.endswith("_probe")) for run in runs]
        loss, best, final, strength = np.transpose(found)
        known: dict = {"measured": {"ridge_strength": strength}}
    else:
        loss, best, final, epochs = np.transpose([readout_descent(problem, run) for run in runs])
        known = {"evaluations": epochs.astype(np.int64)}
    return Trained.from_solution(problem.start, loss, final, risk_best=best, **known)


def ridge(problem, run, probe):
    """(loss, smallest test risk over strengths, test risk at the strength of the least leave-one-out error, strength of
    the former) of ridge regression with an intercept.

    The released code solves it in single precision on the features themselves, of which a kernel has 16,000. Here it is
    solved in double precision on the Gram matrix. Both agree to six digits except on pretrained features, which leave
    risks of 1e-7. `run` is an index; `probe` says that the features are the hidden responses, else tangent features.
    """
    (X, y), (Z, target) = ((np.asarray(v, float) for v in (task.X[task.sets[run]], task.y[run]))
                           for task in (problem.tasks[0], problem.test))  # fmt: skip
    first, readout = problem.start.first[run].astype(float), problem.start.second[run, 0].astype(float)
    readout = np.zeros_like(readout) if probe else readout  # at 0 the tangent kernel is that of the readout alone
    gram, cross = kernel(first, readout, X, X), kernel(first, readout, Z, X)
    # An intercept that is not penalised: features and targets are centred by the means of the training samples.
    mean, centre = gram.mean(0), y.mean()
    centred = gram - mean - mean[:, None] + mean.mean()
    values, vectors = eigh(centred)
    along, values = vectors.T @ (y - centre), values.clip(min=0)
    predictors = (cross - mean - (cross.mean(1) - mean.mean())[:, None]) @ vectors
    coefficients = along / (values + STRENGTHS[:, None])
    risks = np.square(predictors @ coefficients.T + centre - target[:, None]).mean(0)
    # Leave-one-out of the centred problem, whose hat matrix has 1/n more on its diagonal by the intercept.
    leverage = 1 / len(y) + (values / (values + STRENGTHS[:, None])) @ (vectors**2).T
    residual = (STRENGTHS[:, None] * coefficients) @ vectors.T
    by_samples = np.square(residual / (1 - leverage).clip(min=1e-12)).mean(1).argmin()
    best = risks.argmin()
    return np.square(residual[best]).mean(), risks[best], risks[by_samples], STRENGTHS[best]


def readout_descent(problem, run):
    """(loss, smallest and last test risk, epochs) of descent of a diagonal network's readouts, which is linear.

    In the eigenvectors of the kernel K = Σ± X diag(w±²) Xᵀ each component of the residual shrinks by 1 − 2 rate λ/n in
    a step, so the risk at any epoch is a quadratic form in these powers.
    """
    task, rules, start = problem.tasks[0], problem.rules, problem.start[run]
    X, y, n = task.X[0].astype(float), task.y[run].astype(float), task.y.shape[1]
    features = start.first_plus.astype(float) ** 2 + start.first_minus.astype(float) ** 2
    values, vectors = eigh((X * features) @ X.T)
    beta = start.coefficients()[0].astype(float)
    along, rate = vectors.T @ (y - X @ beta), rules.rate
    while 2 * rate * values[-1] / n > 2:  # there training explodes and starts again
        rate /= 10
    shrink = 1 - 2 * rate * values.clip(min=0) / n

    # The loss of an epoch is that before its step, so training ends a step after the loss has fallen.
    def loss_after(steps):
        return np.square(along * shrink**steps).mean()

    epochs = 1 + bisect_left(range(rules.epochs - 1), True, key=lambda steps: loss_after(steps) < rules.tolerance)
    seen = np.append(np.arange(1, epochs + 1, SEEN_EVERY), epochs)
    # β after t steps is β + diag(features) Xᵀ V diag((1 − shrinkᵗ)/λ) along.
    moves = features[:, None] * (X.T @ vectors)
    test = problem.test.X[0].astype(float)
    outputs = test @ np.column_stack([beta - problem.teacher[run], moves * (along / values.clip(min=1e-300))])
    moments = outputs.T @ outputs / len(test)
    weights = np.column_stack([np.ones(len(seen)), 1 - shrink ** seen[:, None]])
    risks = ((weights @ moments) * weights).sum(1)
    return loss_after(epochs), risks.min(), risks[-1], epochs
