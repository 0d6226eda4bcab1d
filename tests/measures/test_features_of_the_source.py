"""Kernels of mean-field features against loops over inputs, and the target's part outside of them."""

import numpy as np
import pytest

from carryover.config.plugins import model_of
from carryover.measures.pretrained_features import gram, rkhs_residual
from carryover.streams import generator
from toy import made_up_networks
from toy.students import unit

KEPT = np.arange(4) % 2 == 0  # units of the teacher that the source has
TEACHER = ("teacher_directions", "teacher_readout")


def networks(seed=0):
    """Two random runs of 12 units in 5 dimensions, as finetune.py's protocol `pretrained` writes them."""
    rng = np.random.default_rng(seed)
    sizes = {"first": 12, "start_first": 12, "teacher_directions": 4}
    vectors = {name: unit(rng.standard_normal((2, count, 5))) for name, count in sizes.items()}
    second, readout = rng.standard_normal((2, 1, 12)), rng.standard_normal((2, 4))
    readouts = {"second": second, "teacher_readout": readout, "source_readout": readout * KEPT}
    return made_up_networks.networks(vectors | readouts)


def kernel(units, x, z):
    return np.mean([max(w @ x, 0) * max(w @ z, 0) for w in units])


def test_kernels_are_means_over_units_and_alignments_those_of_centred_kernels():
    data = networks()
    result = gram(data, model_of("measures", "gram")(samples=50))
    X = generator("gram", "", 0, "inputs").standard_normal((50, 5))
    source = data["teacher_directions"].values[:, KEPT]
    units = {"gram": data["first"].values, "initial_gram": data["start_first"].values, "source_gram": source}
    centre, centred = np.eye(50) - 1 / 50, {}
    for name, vectors in units.items():
        expected = np.array([[[kernel(one, x, z) for z in X] for x in X] for one in vectors])
        np.testing.assert_allclose(result[name], expected[:, :40, :40], err_msg=name)
        assert result[name].dims == ("run", "point", "other_point")
        centred[name] = centre @ expected @ centre
    for name, found in (("gram", "alignment"), ("initial_gram", "initial_alignment")):
        inner = (centred[name] * centred["source_gram"]).sum((1, 2))
        norms = np.sqrt((centred[name] ** 2).sum((1, 2)) * (centred["source_gram"] ** 2).sum((1, 2)))
        np.testing.assert_allclose(result[found], inner / norms)


def share(units, X, y):
    """Unexplained mean square of a target y at inputs X, by least squares."""
    features = np.maximum(X @ units.T, 0)
    return ((y - features @ np.linalg.lstsq(features, y)[0]) ** 2).mean()


def test_rkhs_residual_is_what_least_squares_leaves_of_many_samples():
    data = networks()
    result = rkhs_residual(data, model_of("measures", "rkhs_residual")())
    X = np.random.default_rng(0).standard_normal((100_000, 5))
    for run in range(2):
        first, start, directions, readout = (data[name].values[run] for name in ("first", "start_first", *TEACHER))
        y = np.maximum(X @ directions.T, 0) @ readout
        for units, name, whole in (
            (first, "rkhs_residual", (y**2).mean()),
            (start, "initial_rkhs_residual", (y**2).mean()),
            (first, "least_risk", y.var()),
        ):
            assert result[name].values[run] == pytest.approx(share(units, X, y) / whole, rel=0.02)
    cut = rkhs_residual(data, model_of("measures", "rkhs_residual")(cutoff=1e-3))
    assert (cut["cutoff"] == 1e-3).all()
    assert (cut["rkhs_residual"] >= result["rkhs_residual"]).all()
