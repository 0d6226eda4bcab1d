"""Kernels of mean-field features against loops over inputs, and the target's part outside of them."""

import numpy as np
import pytest
import xarray as xr

from carryover.config.parameters import model_of
from carryover.measures import gram, out_of_rkhs
from carryover.streams import generator
from toy.students import unit


def networks(first, second, start_first, directions, readout, kept):
    """A dataset as finetune.py's protocol `pretrained` writes it; all arguments with a leading axis of runs."""
    data = xr.Dataset(
        {
            "first": (("run", "unit", "input"), first),
            "second": (("run", "output", "unit"), second),
            "start_first": (("run", "unit", "input"), start_first),
            "teacher_directions": (("run", "teacher_unit", "input"), directions),
            "teacher_readout": (("run", "teacher_unit"), readout),
            "source_readout": (("run", "teacher_unit"), readout * kept),
        }
    )
    return data.assign_coords(seed=("run", np.arange(len(first))), output=["main"])


def drawn(seed=0, runs=2, units=12, inputs=5, teacher_units=4):
    """Arguments of `networks`: random ones, with half of the teacher's units kept."""
    rng = np.random.default_rng(seed)
    sizes = {"first": units, "start_first": units, "directions": teacher_units}
    vectors = {name: unit(rng.standard_normal((runs, count, inputs))) for name, count in sizes.items()}
    kept = np.arange(teacher_units) % 2 == 0
    readouts = {"second": rng.standard_normal((runs, 1, units)), "readout": rng.standard_normal((runs, teacher_units))}
    return {**vectors, **readouts, "kept": kept}


GRAM = model_of("measures", "gram")(samples=50)


def kernel(units, x, z):
    return np.mean([max(w @ x, 0) * max(w @ z, 0) for w in units])


def test_kernels_are_means_over_units():
    told = drawn()
    result = gram.measure(networks(**told), GRAM)
    X = generator("gram", "", 0, "inputs").standard_normal((50, 5))[:40]
    units = {
        "gram": told["first"], "initial_gram": told["start_first"], "source_gram": told["directions"][:, told["kept"]]
    }  # fmt: skip
    for name, vectors in units.items():
        expected = [[[kernel(one, x, z) for z in X] for x in X] for one in vectors]
        np.testing.assert_allclose(result[name], expected, err_msg=name)
        assert result[name].dims == ("run", "point", "other_point")


def test_alignments_are_those_of_centred_kernels_of_all_samples():
    told = drawn(1)
    result = gram.measure(networks(**told), model_of("measures", "gram")(samples=40))
    centre = np.eye(40) - 1 / 40
    centred = {name: centre @ result[name].values @ centre for name in ("gram", "initial_gram", "source_gram")}
    for name, found in (("gram", "alignment"), ("initial_gram", "initial_alignment")):
        inner = (centred[name] * centred["source_gram"]).sum((1, 2))
        norms = np.sqrt((centred[name] ** 2).sum((1, 2)) * (centred["source_gram"] ** 2).sum((1, 2)))
        np.testing.assert_allclose(result[found], inner / norms)


OUT_OF_RKHS = model_of("measures", "out_of_rkhs")()


def share(units, directions, readout, X):
    """Unexplained share of the target at inputs X, by least squares."""
    features, y = np.maximum(X @ units.T, 0), np.maximum(X @ directions.T, 0) @ readout
    return ((y - features @ np.linalg.lstsq(features, y)[0]) ** 2).sum() / (y**2).sum()


def test_it_is_what_least_squares_leaves_of_many_samples():
    told = drawn()
    result = out_of_rkhs.measure(networks(**told), OUT_OF_RKHS)
    X = np.random.default_rng(0).standard_normal((40_000, 5))
    for run in range(2):
        for name, found in (("first", "out_of_rkhs"), ("start_first", "initial_out_of_rkhs")):
            expected = share(told[name][run], told["directions"][run], told["readout"][run], X)
            assert result[found].values[run] == pytest.approx(expected, rel=0.05)


def test_the_least_risk_is_a_share_of_the_target_s_variance():
    told = drawn()
    result = out_of_rkhs.measure(networks(**told), model_of("measures", "out_of_rkhs")(cutoff=1e-3))
    X = np.random.default_rng(2).standard_normal((200_000, 5))
    for run in range(2):
        y = np.maximum(X @ told["directions"][run].T, 0) @ told["readout"][run]
        expected = result["out_of_rkhs"].values[run] * (y**2).mean() / y.var()
        assert result["least_risk"].values[run] == pytest.approx(expected, rel=0.02)
    assert (result["cutoff"] == 1e-3).all()
