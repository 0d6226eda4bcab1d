"""What features before finetuning say of the target: against scikit-learn, sampling and limits."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.preprocessing import KernelCenterer

from carryover.config.plugins import model_of
from carryover.measures import target_alignment
from carryover.measures.dimensionality import cka
from carryover.streams import generator
from carryover.tasks.sparse import sphere
from toy import made_up_networks

D = 6


def normal(*shape):
    return np.random.default_rng(0).standard_normal(shape)


def diagonal(plus, minus, teacher):
    """One run of five samples."""
    variables = {"start_first_plus": [plus], "start_first_minus": [minus], "teacher": [teacher]}
    return made_up_networks.networks(variables, samples=[5])


def relu(first, directions, readout):
    """One run of five samples, whose teacher has a unit that only fills up the array."""
    variables = {
        "start_first": [first], "start_second": np.zeros((1, 1, len(first))),
        "teacher_directions": [np.vstack([directions, np.full(D, np.nan)])], "teacher_readout": [[*readout, 0.0]],
    }  # fmt: skip
    return made_up_networks.networks(variables, samples=[5])


def measured(data, **told):
    found = target_alignment.target_alignment(data, model_of("measures", "target_alignment")(**told))
    assert all(variable.attrs["long_name"] for variable in found.values())
    return found


def drawn(samples):
    return sphere(generator("target_alignment", "", 0, "inputs"), 1000, D)[:samples]


def test_left_out_samples_are_those_of_cross_validation():
    features, target = normal(12, 7), normal(12, 8)[:, 7] + 0.5
    penalties = target_alignment.STRENGTHS * (features**2).sum() / 12
    ridges = [Ridge(penalty, fit_intercept=False) for penalty in penalties]
    predicted = np.array([cross_val_predict(ridge, features, target, cv=LeaveOneOut()) for ridge in ridges])
    errors = ((predicted - target) ** 2).sum(1)
    expected = 1 - min(errors) / ((target - target.mean()) ** 2).sum()
    assert target_alignment.leave_one_out_fit(features, target) == pytest.approx(expected, rel=1e-9)


def test_diagonal_networks_are_compared_over_all_inputs():
    plus, minus, teacher = normal(3, D)
    found = measured(diagonal(plus, minus, teacher)).isel(run=0)
    X = normal(100_000, D)
    features = np.hstack([X * plus, -X * minus])
    assert float(found["target_alignment"]) == pytest.approx(cka(features, (X @ teacher)[:, None]), abs=0.01)
    variances = np.linalg.eigvalsh(np.cov(features.T))
    assert float(found["participation_ratio_start"]) == pytest.approx(
        variances.sum() ** 2 / (variances**2).sum(), rel=0.02
    )
    few = drawn(5)
    expected = target_alignment.leave_one_out_fit(np.hstack([few * plus, -few * minus]), few @ teacher)
    assert float(found["probe_r_squared"]) == pytest.approx(expected, rel=1e-9)


def test_relu_networks_are_compared_at_samples():
    first, directions, readout = normal(22, D)[:20], normal(22, D)[20:], np.array([1.0, -2.0])
    found = measured(relu(first, directions, readout), inputs=200).isel(run=0)
    X = drawn(200)
    features, target = np.maximum(X @ first.T, 0), np.maximum(X @ directions.T, 0) @ readout
    kernel, labels = (KernelCenterer().fit_transform(values @ values.T) for values in (features, target[:, None]))
    aligned = (kernel * labels).sum() / np.sqrt((kernel**2).sum() * (labels**2).sum())
    assert float(found["target_alignment"]) == pytest.approx(aligned, rel=1e-9)
    variances = np.linalg.eigvalsh(np.cov(features.T))
    assert float(found["participation_ratio_start"]) == pytest.approx(variances.sum() ** 2 / (variances**2).sum())
    expected = target_alignment.leave_one_out_fit(features[:5], target[:5])
    assert float(found["probe_r_squared"]) == pytest.approx(expected, rel=1e-9)
