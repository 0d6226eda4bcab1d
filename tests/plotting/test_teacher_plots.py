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

    def check(ax, label, runs):
        above, below = (table.pivot(index="seed", columns="gamma", values="risk_final") for table in runs)
        ratio = above / below
        (points,) = [container for container in ax.containers if container.get_label() == label]
        x, y = np.asarray(points[0].get_data(), float)
        assert (abs(x - ratio.columns) < 0.02).all()  # curves stand a little apart
        np.testing.assert_allclose(y, ratio.median())
        ends = np.array(points[2][0].get_segments())[:, :, 1].T
        np.testing.assert_allclose(ends, [ratio.min(), ratio.max()])

    for rest in (0.25, 1.0):
        runs = [risks("stretch", stretch=4.0, deviation=rest, depth=depth) for depth in (1, 5)]
        check(left, f"a: rest of norm {rest:g}", runs)
    pairs = (("target_norm", "source_norm"), ("source_norm", "target_norm"))
    check(right, "b: norm 4", [risks("scale", depth=7, **{a: 4.0, b: 1.0}) for a, b in pairs])


def test_a_depth_that_no_run_has_is_named():
    with pytest.raises(UserError, match="no run has depth=3"):
        drawn("teacher_sensitivity", depth=3)
