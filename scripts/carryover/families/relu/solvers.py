"""Solvers of shallow ReLU networks: of a `pretrain.Problem` and a stage's parameters `p`, they return `Trained`."""

import numpy as np
import torch

from carryover.networks.relu import Weights
from carryover.streams import generator
from carryover.tasks.sparse import sphere
from carryover.theory.kernels import relu_kernel, relu_power
from carryover.training.devices import tensor
from carryover.training.integrate import report
from carryover.training.kernel_ridge import fit
from carryover.training.relu import gradient_descent
from carryover.training.relu_flow import gradient_flow
from carryover.training.result import Trained

PORTABLE = {"descent": "distribution", "flow": "distribution"}
"""Units that start small choose their place early, and large steps swing for long."""
TEST_SAMPLES = 2000  # for what has no closed form


def descent(problem, p):
    """Gradient descent, as the papers train, with the population risk along the way."""
    return gradient_descent(
        **_trainer_arguments(problem, p),
        learning_rate=p.learning_rate, max_epochs=p.max_epochs, batch_size=p.batch_size,
        shuffles=problem.shuffles, precision=p.precision,
    )  # fmt: skip


def flow(problem, p):
    """Gradient flow, which plain descent follows with small steps, in tens of steps."""
    return gradient_flow(**_trainer_arguments(problem, p), accuracy=p.accuracy, max_steps=p.max_steps)


def _trainer_arguments(problem, p):
    """The arguments that both trainers share; tolerances are fractions of the loss of networks whose outputs are 0."""
    if p.loss == "cross_entropy":
        observe, idle = _classification(problem.teacher), len(problem.tasks) * np.log(2)
    else:
        observe, idle = {"risk": _risk(problem.teacher)}, sum(np.square(task.y).mean(1) for task in problem.tasks)
    return {
        "tasks": problem.tasks,
        "start": problem.start,
        "tolerance": p.tolerance * np.broadcast_to(idle, len(problem.start.first)),
        "loss": p.loss,
        "device": p.device,
        "observe": observe,
    }


def ridge(problem, p):
    """Ridge regression on features of the initial network: its hidden units (probe), or its gradients (tangent kernel).

    The ridge strength of each run is chosen by leave-one-out cross-validation. A probe returns the network with the
    fitted readout. A tangent kernel's function is no ReLU network: loss and risk are its own, weights initial ones."""
    task, start, fitted = problem.tasks[0], problem.start, []
    probe = p.protocol.endswith("_probe")
    readouts = np.zeros_like(start.second) if probe else start.second
    for run, row in enumerate(task.sets):
        fitted.append(fit(start.first[run], readouts[run, 0], task.X[row], task.y[run]))
        report(step=run + 1, active=len(task.sets) - run - 1)
    return Trained.from_solution(
        Weights(start.first, np.stack([one.readout for one in fitted])[:, None]) if probe else start,
        np.array([one.loss for one in fitted]),
        np.array([one.risk(*_units(problem.teacher, run)) for run, one in enumerate(fitted)]),
        measured={"ridge_strength": np.array([one.strength for one in fitted])},
    )


def _units(teacher, run):
    """Directions (k, D) and coefficients (k,) of the units that a run's teacher has: others only fill up the array."""
    coefficients = teacher.second[run, 0]
    return teacher.first[run][coefficients != 0], coefficients[coefficients != 0]


def _risk(teacher):
    """A function of tensors first (R, H, D), second (R, O, H) and indices (R,) of their runs, which returns the
    expected squared error (R,) of output 0 over the whole sphere, in closed form: E f² − 2 E f f* + E f*²."""
    directions, coefficients = teacher.first, teacher.second[:, 0]
    constant = relu_power(directions, coefficients)
    units = [_units(teacher, run) for run in range(len(constant))]

    def risk(first, second, runs):
        first, readout = first.double(), second[:, 0].double()
        if first.device.type != "cpu":
            arrays = (tensor(values[runs], first.device) for values in (directions, coefficients, constant))
            return _distance(first, readout, *arrays)
        # NumPy's inverse sines are four times as fast as PyTorch's, and pairs of one network's units stay in the cache.
        networks = zip(runs, first.numpy(), readout.numpy(), strict=True)
        return tensor([_distance(W, a, *units[run], constant[run]) for run, W, a in networks], first.device)  # type: ignore[call-arg]

    return risk


def _distance(first, readout, directions, coefficients, constant):
    """E (f − f*)² (...) of first (..., H, D), readout (..., H) and a teacher (..., K, D), (..., K), given E f*²."""
    power = relu_power(first, readout)
    cross = readout[..., None, :] @ relu_kernel(first, directions) @ coefficients[..., :, None]
    return (power - 2 * cross[..., 0, 0] + constant).clip(0)


def _classification(teacher):
    """{name: function as `_risk` returns} of classifiers on random test inputs: error, effective number of features."""
    X = sphere(generator("classification", "", 0, "test inputs"), TEST_SAMPLES, teacher.first.shape[-1])
    positive = teacher.outputs(X)[..., 0] > 0

    def error(first, second, runs):
        outputs = (second[:, :1] @ (first @ tensor(X.T, first.device).to(first.dtype)).relu_())[:, 0]
        return ((outputs > 0) != torch.as_tensor(positive[runs], device=first.device)).double().mean(1)

    def effective_features(first, second, runs):
        """Participation ratio (tr C)²/tr C² of the covariance C (H, H) of hidden responses to the test inputs, (R,)."""
        first = first.float()  # precise enough for this ratio, which takes most of the time of training on few samples
        responses = (first @ tensor(X.T, first.device).float()).relu_()
        responses -= responses.mean(2, keepdim=True)
        covariance = (responses @ responses.transpose(1, 2)).double()
        return covariance.diagonal(dim1=1, dim2=2).sum(1) ** 2 / covariance.square().sum((1, 2))

    return {"risk": error, "effective_features": effective_features}
