"""What the figure of wide ReLU networks shows: medians over seeds of risks and bounds, and norms by distance."""

import numpy as np
import pytest

from carryover.config.parameters import model_of
from carryover.figures import ntk_bound
from toy.wide_relu_networks import roles

BOUND = roles("ntk_bound")["bound"]
NAMES = {"STL": "single_task", "PT+FT": "finetuning"}


def drawn(bound=BOUND):
    return ntk_bound.draw({"bound": bound}, model_of("figures", "ntk_bound")())


def lines(ax, label):
    return [line.get_data() for line in ax.get_lines() if line.get_label() == label]


def medians(quantity, along, **chosen):
    table = BOUND.to_dataframe().reset_index()
    for name, value in chosen.items():
        table = table[table[name] == value]
    found = table.groupby(along)[quantity].median()
    return found.index, found


@pytest.mark.parametrize(("panel", "distance"), [(0, 0.25), (1, 1.5)])
def test_risks_and_bounds_are_medians_over_seeds(panel, distance):
    ax = drawn().axes[panel]
    assert ax.get_title() == f"|Δ| = {distance:g}"
    limits = lines(ax, "infinite width")
    for (label, protocol), limit in zip(NAMES.items(), limits, strict=True):
        for solver, quantity, found in (
            ("descent", "absolute_risk", lines(ax, label)[0]),
            ("descent", "bound", lines(ax, f"{label}, first term of the bound")[0]),
            ("exact", "absolute_risk", limit),
        ):
            expected = medians(quantity, "samples", distance=distance, protocol=protocol, solver=solver)
            np.testing.assert_allclose(found, expected)
    (level,) = lines(ax, "before finetuning")
    chosen = {"distance": distance, "protocol": "finetuning", "solver": "descent"}
    np.testing.assert_allclose(level[1], medians("start_risk", "seed", **chosen)[1].median())


@pytest.mark.parametrize("quantity", ["ntk_norm", "ntk_norm_linear"])
def test_norms_at_most_samples_lie_over_their_distances_beside_both_constants(quantity):
    ax = drawn().axes[-1]
    assert ax.get_title() == "norm in the bound, n = 8"
    name = {"ntk_norm": "as pretrained", "ntk_norm_linear": "source learned exactly"}[quantity]
    (found,) = lines(ax, f"_{name}")
    expected = medians(quantity, "distance", samples=8, protocol="finetuning", solver="descent")
    np.testing.assert_allclose(found, expected)
    for label, slope in (("_3 |Δ| (corollary 6.2)", 3), ("_2 |Δ|", 2)):
        ((x, y),) = lines(ax, label)
        np.testing.assert_allclose(x, [0.25, 1.5])
        np.testing.assert_allclose(y, slope * x)
