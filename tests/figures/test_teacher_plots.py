"""What the figures about linear teachers show is what the runs say."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

from carryover.figures.drawing import panels
from toy.deep_linear_networks import drawn, line, measured, roles


def risks(experiment, **condition):
    """Risk of runs at a condition, as a table of seeds (rows) by number of samples."""
    table = measured(experiment).to_dataframe()
    for name, value in condition.items():
        table = table[table[name] == value]
    return table


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


FROZEN = {"single_task": "from scratch (vanilla)", "finetuning": "finetuned", "linear_transfer": "frozen"}


def medians(data, **condition):
    """Median over seeds of the risk, at least .01, by the number of samples, and whether all runs converged."""
    table = panels.where(data, **condition).to_dataframe().groupby("samples")
    return table["risk_final"].median().clip(lower=0.01), table["converged"].min() == 1


def markers(ax, marker):
    """(y of full ones, y of hollow ones) of the markers of gradient descent of frozen networks."""
    found = [curve for curve in ax.get_lines() if curve.get_marker() == marker and curve.get_linestyle() == "None"]
    found = [curve for curve in found if to_hex(curve.get_color()) == panels.COLORS["linear_transfer"].lower()]
    return [curve.get_ydata() for curve in found]


def test_frozen_networks_are_drawn_beside_finetuned_ones_and_those_from_scratch():
    data = roles("frozen_layer")
    short = data["risk"].assign(converged=data["risk"]["converged"] * (data["risk"]["samples"] < 10))
    axes = drawn("frozen_layer", {"risk": short}).axes
    for protocol, label in FROZEN.items():
        start = {} if protocol == "single_task" else {"pretrain_solver": "exact"}
        x, y = line(axes[0], label)
        np.testing.assert_array_equal(x, [3, 10])
        np.testing.assert_allclose(y, medians(data["risk"], protocol=protocol, solver="exact", **start)[0])
    assert not [curve for curve in axes[1].get_lines() if curve.get_label() == "finetuned"]  # it has no exact limit
    for ax, start in zip(axes, ("exact", "descent"), strict=False):
        told = {"protocol": "linear_transfer", "solver": "descent", "pretrain_solver": start}
        expected, done = medians(short, **told)
        full, hollow = markers(ax, "s")
        assert not done[10]
        np.testing.assert_allclose(full, expected.where(done))
        np.testing.assert_allclose(hollow, expected.where(~done))
    for marker, frozen in (("s", 1), ("D", 2)):
        expected, done = medians(data["layers"], protocol="linear_transfer", solver="descent", frozen=frozen)
        assert done.all()
        np.testing.assert_allclose(markers(axes[2], marker)[0], expected)


def test_gaussian_risks_and_broken_bounds_are_those_of_the_draws():
    curve = roles("gaussian_bounds")["curve"]
    left, middle, right = drawn("gaussian_bounds").axes
    for depth, label in ((1, "risk, L = 1"), (np.inf, "risk, L → ∞")):
        risk = curve["risk"].sel(dimension=16, source_norm=4.0, angle=0.125, depth=depth)
        np.testing.assert_allclose(line(left, label)[1], risk.median("draw"))
    for name, depth, label in (("one_layer", 1, "L = 1, eq 10"), ("deep", np.inf, "L → ∞, eq 9")):
        above = curve["risk"].sel(depth=depth).values > curve[name].sel(epsilon=0.2).values[None, ..., None]
        for place, d in enumerate((8, 16)):
            expected = 100 * above[place].mean((1, 2, 3))
            np.testing.assert_allclose(line(middle, f"bound of {label}, d = {d}")[1], expected)
    x, y = line(right, "a pair of tasks at an n/d")
    cell = {"gamma": 0.5, "source_norm": 0.25, "angle": 0.5}
    one, many = (curve["risk"].sel(dimension=16, depth=depth, **cell).values for depth in (1, np.inf))
    (place,) = np.flatnonzero(np.isclose(y, np.exp(np.log(one / many).mean())))
    bounds = curve.sel(epsilon=0.0, **cell)
    assert x[place] == pytest.approx(float(bounds["one_layer"] / bounds["deep"]))
    assert x[place] == pytest.approx((1 + 0.25**2) / 2)


def test_points_lie_at_bound_and_risk_of_the_instances_that_were_not_fitted():
    curve = roles("covariance_bound")["curve"]
    left = drawn("covariance_bound").axes[0]
    tested = curve.isel(instance=curve["half"].values == 1)
    c = float(curve["c"])
    points = [dots.get_data() for dots in left.get_lines() if dots.get_marker() == "."]
    bound, risk = np.concatenate(points, axis=1)
    np.testing.assert_allclose(np.sort(risk), np.sort(tested["risk"]))
    np.testing.assert_allclose(np.sort(bound), np.sort(c**3 * tested["top_unit"] + c * tested["bottom_unit"]))
    assert left.get_title() == f"a: in {np.mean(bound > 1):.0%} the bound exceeds any possible risk"
