"""What the figures of transfer between linear tasks show: means over draws, their spread, and the theory's curves."""

import re
from itertools import product

import numpy as np
import pytest

from carryover.errors import UserError
from carryover.theory import transfer
from toy.deep_linear_networks import PENALTIES, distances, drawn, line, measured, roles, theory
from toy.drawn import notes_of

POINT = ["seed", "samples", "gamma", "angle", "noise", "depth", "target_norm"]
SIGMA = 0.2  # noise of all experiments but one


def gains(experiment, protocol, solver="exact", decay=0.0):
    """Risk from scratch less that of transfer on the same data, run by run, paired by pandas' index."""
    runs = measured(experiment).to_dataframe()
    alone = runs[(runs["protocol"] == "single_task") & (runs["weight_decay"] == decay)]
    moved = runs[(runs["protocol"] == protocol) & (runs["solver"] == solver)]
    alone, moved = (part.set_index(POINT)["risk_final"] for part in (alone, moved))
    return (alone.reindex(moved.index) - moved).rename("gain").reset_index()


def at(table, **values):
    keep = np.logical_and.reduce([np.isclose(table[name], value) for name, value in values.items()])
    return table[keep]


def bars(ax, label):
    """(x, y, halves of the bars along x or None, and along y) of the points with a label."""
    (container,) = [found for found in ax.containers if found.get_label() == label]
    halves = [np.array(lines.get_segments()) for lines in container[2]]
    halves = [(ends[:, 1] - ends[:, 0]).T / 2 for ends in halves]
    x, y = np.asarray(container[0].get_data(), float)
    return x, y, halves[0][0] if len(halves) == 2 else None, halves[-1][1]


def curves(ax, style, count=None):
    """Data of the lines of a style without markers, without level ones."""
    found = [curve for curve in ax.get_lines() if curve.get_linestyle() == style and curve.get_marker() == "None"]
    found = [curve.get_data() for curve in found if len(np.unique(curve.get_xdata())) > 2]
    assert count is None or len(found) == count
    return found


def cell(ax, x, y):
    """Value of the cell of a map in which a point lies."""
    (found,) = [part for part in ax.collections if hasattr(part, "get_coordinates")]
    corners = found.get_coordinates()
    column, row = np.searchsorted(corners[0, :, 0], x) - 1, np.searchsorted(corners[:, 0, 1], y) - 1
    return found.get_array().reshape(len(corners) - 1, -1)[row, column]


def shares(figure):
    return [int(found) for found in re.findall(r"(\d+)%", notes_of(figure))]


BLOCKS = ((0.0, 0.5), (0.5, 1.0), (1.0001, 9.0))


def by_block(table, expected, by, blocks=BLOCKS):
    """Percent of the points in blocks of γ at which the mean is within two standard errors of what is expected (per
    row)."""
    points = table.assign(expected=expected).groupby(by)
    mean, error = points["gain"].mean(), points["gain"].std() / np.sqrt(points["gain"].count())
    within = (abs(mean - points["expected"].mean()) <= 2 * error + 1e-9).reset_index(name="within")
    return [round(100 * within["within"][(within["gamma"] >= low) & (within["gamma"] < high)].mean())
            for low, high in blocks]  # fmt: skip


def test_slices_are_means_with_the_deviation_of_draws_beside_the_formula():
    ax = drawn("transfer_diagram").axes[3]
    runs = at(gains("diagram", "linear_transfer"), noise=SIGMA)
    lines = curves(ax, "-", 3)
    for angle, (gamma, expected) in zip((0.125, 0.25, 0.375), lines, strict=True):
        points = at(runs, angle=angle).groupby("gamma")["gain"]
        x, y, _, half = bars(ax, f"θ = {angle:g} π")
        np.testing.assert_allclose(x, [0.25, 0.5, 0.75, 1.5])
        np.testing.assert_allclose(y, points.mean())
        np.testing.assert_allclose(half, points.std())
        np.testing.assert_allclose(expected, transfer.linear_transferability(gamma, np.pi * angle, SIGMA))


def test_maps_show_theory_and_experiment_at_their_points_up_to_the_largest():
    figure = drawn("transfer_diagram", largest=0.3)
    for gamma, angle in product(theory()["gamma"].values, theory()["angle"].values):
        expected = np.clip(transfer.linear_transferability(gamma, np.pi * angle, SIGMA), -0.3, 0.3)
        assert cell(figure.axes[1], gamma, angle) == pytest.approx(expected)
    points = at(gains("diagram", "linear_transfer"), noise=SIGMA).groupby(["gamma", "angle"])["gain"].mean()
    assert len(points) == 16
    for (gamma, angle), value in points.items():
        assert cell(figure.axes[2], gamma, angle) == pytest.approx(np.clip(value, -0.3, 0.3)), (gamma, angle)
    assert max(abs(points)) > 0.3


def test_finetuning_has_both_formulas_and_the_shares_within_two_errors():
    figure = drawn("transfer_diagram", protocol="finetuning")
    runs = at(gains("diagram", "finetuning"), noise=SIGMA)
    theta = np.pi * runs["angle"]
    formulas = [
        transfer.finetune_transferability(runs["gamma"], theta, SIGMA, 2),
        transfer.finetune_transferability(runs["gamma"], theta),
    ]
    below = [by_block(runs, formula, ["gamma", "angle"], BLOCKS[:2]) for formula in formulas]
    assert shares(figure) == [*below[0], *below[1]]  # where all is 0 they would say nothing
    for style, sigma, depth in (("-", SIGMA, 2), ("--", 0, None)):
        gamma, found = curves(figure.axes[3], style, 3)[0]
        np.testing.assert_allclose(found, transfer.finetune_transferability(gamma, np.pi / 8, sigma, depth))
    gamma, angle = line(figure.axes[1], "no gain: eq 15 with the norm factor")
    np.testing.assert_allclose(angle, transfer.finetune_boundary(gamma, SIGMA, 2) / np.pi)
    assert gamma.max() < 1
    assert set(line(figure.axes[2], "no gain: eq 15")[1]) == {1 / 3}


@pytest.mark.parametrize("noise", [0.0, SIGMA])
def test_the_boundaries_of_linear_transfer_part_gains_from_losses(noise):
    gamma, angle = line(drawn("transfer_diagram", noise=noise).axes[1], "no gain: eq 11")
    known = np.isfinite(gamma) & (angle > 0) & (gamma > 0.01)
    assert known.sum() > 5
    beside = [
        transfer.linear_transferability(gamma[known] * (1 + step), np.pi * angle[known], noise)
        for step in (-1e-3, 1e-3)
    ]
    assert (np.sign(beside[0]) == -np.sign(beside[1])).all()


def test_the_norm_factor_is_seen_by_depth_noise_and_solver():
    figure = drawn("norm_factor")
    panels = zip(figure.axes, [(depth, noise) for depth in (1, 2) for noise in (0.3, 1.0)], strict=True)
    for ax, (depth, noise) in panels:
        assert ax.get_title() == f"L = {depth}, σ = {noise:g}"
        for label, solver, offset in (("gradient descent", "descent", -0.006), ("exact limit", "exact", 0.006)):
            points = at(gains("depth", "finetuning", solver), depth=depth, noise=noise, angle=0.5)
            points = points.groupby("gamma")["gain"]
            x, y, _, half = bars(ax, label)
            np.testing.assert_allclose(x, np.array([0.25, 0.5]) + offset)
            np.testing.assert_allclose(y, points.mean())
            np.testing.assert_allclose(half, 2 * points.std() / np.sqrt(3))
        for label, told in (("eq 15", ()), ("eq 15 with the norm factor", (noise, depth))):
            gamma, found = line(ax, label)
            np.testing.assert_allclose(found, transfer.finetune_transferability(gamma, np.pi / 2, *told))
            assert gamma.max() < 1
    deep = at(gains("depth", "finetuning"), depth=2)
    theta = np.pi * deep["angle"]
    formulas = [
        transfer.finetune_transferability(deep["gamma"], theta),
        transfer.finetune_transferability(deep["gamma"], theta, deep["noise"], 2),
    ]
    by = ["gamma", "angle", "noise"]
    eq15, factor = (by_block(deep, formula, by, BLOCKS[:2]) for formula in formulas)
    assert shares(figure) == [*eq15, *factor]


def test_ridge_risks_and_their_changes_lie_beside_the_theory_of_their_samples():
    many, few, _ = drawn("ridge_transfer").axes
    runs = measured("ridge").to_dataframe()
    assert (many.get_title(), few.get_title()) == ("a: n = 10, γ = 0.5", "b: n = 10, γ = 0.5")
    many, few, _ = drawn("ridge_transfer", gamma=1.5).axes
    assert (many.get_title(), few.get_title()) == ("a: n = 30, γ = 1.5", "b: n = 10, γ = 0.5")
    for i, angle in enumerate((0.125, 0.375)):
        points = at(runs, angle=angle, samples=30).groupby("ridge")["risk_final"]
        x, y, _, half = bars(many, f"θ = {angle:g} π")
        np.testing.assert_allclose(x, [1e-4, *PENALTIES[1:]])
        np.testing.assert_allclose(y, points.mean())
        np.testing.assert_allclose(half, points.std())
        limit, risk = curves(many, "-", 4)[2 * i : 2 * i + 2]
        np.testing.assert_allclose(limit[1], transfer.ridge_transfer_risk(np.pi * angle, limit[0]))
        np.testing.assert_allclose(risk[1], transfer.ridge_transfer_risk(np.pi * angle, risk[0], 30, SIGMA))
        table = at(runs, angle=angle, samples=10).pivot(index="seed", columns="ridge", values="risk_final")
        change = table.sub(table[0.0], axis=0)[list(PENALTIES[1:])]
        np.testing.assert_allclose(np.asarray(few.containers[i][0].get_ydata(), float), change.mean())
        ends = np.array(few.containers[i][2][0].get_segments())[:, :, 1]
        np.testing.assert_allclose(np.diff(ends).ravel(), 4 * change.std() / np.sqrt(3))
        limit, found = curves(few, "-", 4)[2 * i : 2 * i + 2]
        for (ridge, drawn_there), n in ((limit, None), (found, 10)):
            of_theory = [transfer.ridge_transfer_risk(np.pi * angle, told, n, SIGMA) for told in (ridge, 0.0)]
            np.testing.assert_allclose(drawn_there, of_theory[0] - of_theory[1], atol=1e-12)


def test_scratch_training_is_regularised_by_what_is_said():
    axes = drawn("regularised_scratch").axes
    decays = (0.0, 1e-2, 1e-1)
    rows = [gains("decay", "linear_transfer", decay=decay) for decay in decays]
    runs = measured("decay").to_dataframe()
    alone = runs[runs["protocol"] == "single_task"]
    chosen = {"no weight decay": np.zeros(len(rows[0]), int)}
    for label, quantity in (("chosen by cross-validation", "validation_loss"), ("chosen by the risk", "risk_final")):
        table = alone.pivot(index=["seed", "samples", "angle"], columns="weight_decay", values=quantity)
        order = list(zip(*(rows[0][name] for name in table.index.names), strict=True))
        chosen[label] = table.reindex(order).to_numpy().argmin(1)
    assert len({tuple(choice) for choice in chosen.values()}) == 3  # the figure could mix them up
    for ax, (label, choice) in zip(axes[:3], chosen.items(), strict=True):
        assert ax.get_title()[3:] == label
        gain = np.stack([part["gain"] for part in rows])[choice, np.arange(len(choice))]
        points = rows[0].assign(gain=gain).groupby(["gamma", "angle"])["gain"]
        for (gamma, angle), value in points.median().items():
            assert cell(ax, gamma, angle) == pytest.approx(np.clip(value, -1, 1)), (label, gamma, angle)
        x, y, _, half = bars(axes[3], label)
        low, middle, high = (points.quantile(share)[:, 0.5] for share in (0.25, 0.5, 0.75))
        np.testing.assert_allclose(x, [0.5, 0.75, 1.0, 1.5])
        np.testing.assert_allclose(y, middle)
        np.testing.assert_allclose(half, (high - low) / 2)


def test_gains_lie_over_the_distances_of_their_targets():
    panels = [ax for ax in drawn("dataset_distances").axes if ax.get_subplotspec() is not None]
    (above, *axes) = np.array(panels).reshape(3, 3)
    points = at(gains("diagram", "linear_transfer"), noise=SIGMA).groupby(["gamma", "angle"])["gain"].mean()
    found = distances().sel(target_norm=1.0)
    for ax, distance in zip(above, ("kl", "wasserstein", "dudley"), strict=True):
        along = found[distance].mean("repeat") if "repeat" in found[distance].dims else found[distance]
        places = np.interp(points.index.get_level_values("angle"), along["angle"], along)
        (drawn_there,) = [part for part in ax.collections if len(part.get_offsets()) > 1]
        np.testing.assert_allclose(drawn_there.get_offsets(), np.transpose([places, points]))
        np.testing.assert_allclose(drawn_there.get_array(), points.index.get_level_values("gamma"))
    for row, protocol, formula in zip(axes, ("linear_transfer", "finetuning"), ("linear", "finetuning"), strict=True):
        for ax, distance in zip(row, ("kl", "wasserstein", "dudley"), strict=True):
            runs, lines = gains("targets", protocol), curves(ax, "-", 2)
            for norm, (_, expected) in zip((0.5, 1.0), lines, strict=True):
                found = distances().sel(target_norm=norm)
                np.testing.assert_allclose(expected, found[formula])
                sampled = "repeat" in found[distance].dims
                for sign, side in (("≤", slice(0, 3)), (">", slice(3, 5))):
                    far = found[distance].isel(angle=side)
                    points = at(runs, target_norm=norm).groupby("angle")["gain"]
                    x, y, along, half = bars(ax, f"norm {norm:g}, θ {sign} π/2")
                    np.testing.assert_allclose(x, far.mean("repeat") if sampled else far)
                    np.testing.assert_allclose(along, far.std("repeat") if sampled else 0.0 * far, atol=1e-12)
                    np.testing.assert_allclose(y, points.mean()[side])
                    np.testing.assert_allclose(half, points.std()[side])
                    (shown,) = [part for part in ax.containers if part.get_label() == f"norm {norm:g}, θ {sign} π/2"]
                    assert (str(shown[0].get_markerfacecolor()) == "none") == (sign == ">")


@pytest.mark.parametrize(
    ("plot", "lacking", "told", "sentence"),
    [
        ("transfer_diagram", None, {"noise": 0.7}, "no run has noise=0.7, depth=2; see the options in"),
        ("regularised_scratch", None, {"angle": 0.4}, "no run has angle=0.4"),
    ],
)
def test_runs_that_are_not_there_are_named_in_a_sentence(plot, lacking, told, sentence):
    risk = roles(plot)["risk"]
    with pytest.raises(UserError, match=f"^{sentence}") as raised:
        drawn(plot, {"risk": risk.isel(run=risk["protocol"].values != lacking)}, **told)
    assert str(raised.value).endswith(".")
    assert "\n" not in str(raised.value)
