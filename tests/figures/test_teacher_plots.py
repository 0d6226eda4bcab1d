"""What the figures about linear teachers show is what the runs say."""

import numpy as np
import pytest

from carryover.runs import select_runs
from toy.deep_linear_networks import roles
from toy.drawn import drawn, line

FROZEN = {"single_task": "from scratch (vanilla)", "finetuning": "finetuned", "linear_transfer": "frozen"}


def test_frozen_networks_are_drawn_beside_finetuned_ones_and_those_from_scratch():
    data = roles("frozen_layer")
    axes = drawn("frozen_layer", data).axes

    def medians(role, **condition):
        """Median over seeds of the risk, at least .01, by the number of samples."""
        return (
            select_runs(data[role], **condition)
            .to_dataframe()
            .groupby("samples")["risk_final"]
            .median()
            .clip(lower=0.01)
        )

    for protocol, label in FROZEN.items():
        start = {} if protocol == "single_task" else {"pretrain_solver": "exact"}
        x, y = line(axes[0], label)
        np.testing.assert_array_equal(x, [3, 10])
        np.testing.assert_allclose(y, medians("risk", protocol=protocol, solver="exact", **start))
    assert not [curve for curve in axes[1].get_lines() if curve.get_label() == "finetuned"]  # it has no exact limit

    def markers(ax, label):
        """Of gradient descent: full where all runs have converged, and hollow, the line after, elsewhere."""
        lines = ax.get_lines()
        (place,) = [place for place, curve in enumerate(lines) if curve.get_label() == label]
        return np.nanmax([curve.get_ydata() for curve in lines[place : place + 2]], axis=0)

    trained = {"protocol": "linear_transfer", "solver": "descent"}
    for ax, start in zip(axes, ("exact", "descent"), strict=False):
        expected = medians("risk", pretrain_solver=start, **trained)
        np.testing.assert_allclose(markers(ax, "frozen, gradient descent"), expected)
    for frozen in (1, 2):
        expected = medians("layers", frozen=frozen, **trained)
        np.testing.assert_allclose(markers(axes[2], f"k = {frozen} frozen, gradient descent"), expected)


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
