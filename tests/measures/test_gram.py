"""Kernels of features against loops over inputs, and features that are the source's."""

import numpy as np

from carryover.config.parameters import model_of
from carryover.measures import gram
from carryover.streams import generator
from toy.sources import drawn, networks

P = model_of("measures", "gram")(points=7, samples=50)


def kernel(units, x, z):
    return np.mean([max(w @ x, 0) * max(w @ z, 0) for w in units])


def test_kernels_are_means_over_units():
    told = drawn()
    result = gram.measure(networks(**told), P)
    X = generator("gram", "", 0, "inputs").standard_normal((50, 5))[:7]
    units = {
        "gram": told["first"], "initial_gram": told["start_first"], "source_gram": told["directions"][:, told["kept"]]
    }  # fmt: skip
    for name, vectors in units.items():
        expected = [[[kernel(one, x, z) for z in X] for x in X] for one in vectors]
        np.testing.assert_allclose(result[name], expected, err_msg=name)
        assert result[name].dims == ("run", "point", "other_point")


def test_alignments_are_those_of_centred_kernels_of_all_samples():
    told = drawn(1)
    result = gram.measure(networks(**told), model_of("measures", "gram")(points=50, samples=50))
    centre = np.eye(50) - 1 / 50
    centred = {name: centre @ result[name].values @ centre for name in ("gram", "initial_gram", "source_gram")}
    for name, found in (("gram", "alignment"), ("initial_gram", "initial_alignment")):
        inner = (centred[name] * centred["source_gram"]).sum((1, 2))
        norms = np.sqrt((centred[name] ** 2).sum((1, 2)) * (centred["source_gram"] ** 2).sum((1, 2)))
        np.testing.assert_allclose(result[found], inner / norms)
