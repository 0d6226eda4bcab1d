"""What the figures about linear teachers show is what the runs say."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

from carryover.figures.drawing import panels
from toy.deep_linear_networks import line, roles
from toy.drawn import drawn

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
    axes = drawn("frozen_layer", data | {"risk": short}).axes
    for protocol, label in FROZEN.items():
        start = {} if protocol == "single_task" else {"pretrain_solver": "exact"}
        x, y = line(axes[0], label)
        np.testing.assert_array_equal(x, [3, 10])
        np.testing.assert_allclose(y, medians(data["risk"], protocol=protocol, solver="exact", **start)[0])
    assert not [curve for curve in axes[1].get_lines() if curve.get_label() == "finetuned"]  # it has no exact limit
    for ax, start in zip(axes, ("exact", "descent"), strict=False):
        kind = {"protocol": "linear_transfer", "solver": "descent", "pretrain_solver": start}
        expected, done = medians(short, **kind)
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
    left, middle, right = drawn("gaussian_bounds", {"curve": curve}).axes
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
