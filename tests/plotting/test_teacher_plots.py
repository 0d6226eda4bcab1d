"""What the figures about linear teachers show is what the runs say."""

import numpy as np
import pytest

from carryover.errors import UserError
from toy.deep_linear_networks import drawn, line, measured


def risks(experiment, **condition):
    """Risk of runs at a condition, as a table of seeds (rows) by number of samples."""
    table = measured(experiment).to_dataframe()
    for name, value in condition.items():
        table = table[table[name] == value]
    return table


def test_scaling_source_or_target_is_drawn_beside_the_other_of_norm_one():
    axes = drawn("norm_scale").axes
    assert [ax.get_title() for ax in axes] == ["L = 1, n = 5", "L = 1, n = 10", "L = 7, n = 5", "L = 7, n = 10"]
    for ax, (depth, n) in zip(axes, [(1, 5), (1, 10), (7, 5), (7, 10)], strict=True):
        for label, scaled, other in (("source scaled", "source_norm", "target_norm"),
                                     ("target scaled", "target_norm", "source_norm")):  # fmt: skip
            x, y = line(ax, label)
            runs = risks("scale", depth=depth, samples=n, **{other: 1.0})
            np.testing.assert_array_equal(x, [1.0, 4.0])
            np.testing.assert_allclose(y, runs.groupby(scaled)["risk_final"].median())


def test_sensitivity_is_the_ratio_of_risks_of_one_seed():
    left, right = drawn("teacher_sensitivity").axes
    for rest in (0.25, 1.0):
        one, many = (risks("stretch", stretch=4.0, deviation=rest, depth=depth) for depth in (1, 5))
        ratio = [table.pivot(index="seed", columns="samples", values="risk_final") for table in (one, many)]
        np.testing.assert_allclose(line(left, f"rest {rest:g}")[1], (ratio[0] / ratio[1]).median())
    target, source = (risks("scale", depth=7, **{a: 4.0, b: 1.0})
                      for a, b in (("target_norm", "source_norm"), ("source_norm", "target_norm")))  # fmt: skip
    ratio = [table.pivot(index="seed", columns="samples", values="risk_final") for table in (target, source)]
    np.testing.assert_allclose(line(right, "norm 4")[1], (ratio[0] / ratio[1]).median())


def test_a_depth_that_no_run_has_is_named():
    with pytest.raises(UserError, match="no run has depth=3"):
        drawn("teacher_sensitivity", depth=3)
