"""What the figures of transfer between linear tasks show: means over draws, their spread, and the theory's curves."""

import numpy as np
import pandas as pd
import pytest

from carryover.analysis.transferability import predict
from carryover.figures.linear_transfer import averages, best, shares_in_words
from carryover.theory import transfer
from toy.deep_linear_networks import PENALTIES, measured, roles
from toy.drawn import drawn

POINT = ["seed", "samples", "gamma", "angle", "noise", "depth", "target_norm"]
SIGMA = 0.2  # noise of all experiments but one


def gains(experiment, protocol):
    """Risk from scratch less that of transfer on the same data, run by run, paired by pandas' index."""
    runs = measured(experiment).to_dataframe()
    alone, moved = (runs[runs["protocol"] == name].set_index(POINT)["risk_final"] for name in ("single_task", protocol))
    return (alone.reindex(moved.index) - moved).rename("gain").reset_index()


def at(table, **values):
    return table[np.logical_and.reduce([np.isclose(table[name], value) for name, value in values.items()])]


def bars(ax, label):
    """(x, y, halves of the bars along y) of the points with a label."""
    (container,) = [found for found in ax.containers if found.get_label() == label]
    ends = np.array(container[2][-1].get_segments())[:, :, 1]
    return *np.asarray(container[0].get_data(), float), (ends[:, 1] - ends[:, 0]) / 2


def curves(ax, style, count):
    """Data of the lines of a style without markers, without level ones."""
    found = [curve for curve in ax.get_lines() if curve.get_linestyle() == style and curve.get_marker() == "None"]
    found = [curve.get_data() for curve in found if len(np.unique(curve.get_xdata())) > 2]
    assert len(found) == count
    return found


def cell(ax, x, y):
    """Value of the cell of a map in which a point lies."""
    (found,) = [part for part in ax.collections if hasattr(part, "get_coordinates")]
    corners = found.get_coordinates()
    column, row = np.searchsorted(corners[0, :, 0], x) - 1, np.searchsorted(corners[:, 0, 1], y) - 1
    return found.get_array().reshape(len(corners) - 1, -1)[row, column]


def test_maps_and_slices_are_means_with_the_deviation_of_draws_beside_the_formula():
    _, _, measured_map, slices, _ = drawn("transfer_diagram", roles("transfer_diagram")).axes
    runs = at(gains("diagram", "linear_transfer"), noise=SIGMA)
    points = runs.groupby(["gamma", "angle"])["gain"].mean()
    for (gamma, angle), value in points.items():
        assert cell(measured_map, gamma, angle) == pytest.approx(value), (gamma, angle)
    for angle, (gamma, expected) in zip((0.125, 0.25, 0.375), curves(slices, "-", 3), strict=True):
        points = at(runs, angle=angle).groupby("gamma")["gain"]
        x, y, half = bars(slices, f"θ = {angle:g} π")
        np.testing.assert_allclose(x, [0.25, 0.5, 0.75, 1.5])
        np.testing.assert_allclose((y, half), (points.mean(), points.std()))
        np.testing.assert_allclose(expected, transfer.linear_transferability(gamma, np.pi * angle, SIGMA))


def boundary(ax, place=0):
    """(γ, θ/π) of a line of no gain, away from γ = 1, where gains are steep."""
    gamma, angle = np.concatenate([path.vertices for path in ax.collections[1 + place].get_paths()]).T
    return gamma[abs(gamma - 1) > 0.2], angle[abs(gamma - 1) > 0.2]


@pytest.mark.parametrize("noise", [0.0, SIGMA])
def test_there_is_no_gain_on_the_boundaries_of_linear_transfer(noise):
    gamma, angle = boundary(drawn("transfer_diagram", roles("transfer_diagram"), noise=noise).axes[1])
    assert len(gamma) > 5
    np.testing.assert_allclose(transfer.linear_transferability(gamma, np.pi * angle, noise), 0, atol=0.02)


def test_finetuning_is_bounded_by_both_formulas():
    axes = drawn("transfer_diagram", roles("transfer_diagram"), protocol="finetuning").axes
    gamma, angle = boundary(axes[1])
    np.testing.assert_allclose(angle, transfer.finetune_boundary(gamma, SIGMA, 2) / np.pi, atol=0.01)
    np.testing.assert_allclose(boundary(axes[2], 1)[1], 1 / 3, atol=0.01)


def test_ridge_risks_and_their_changes_lie_beside_the_theory_of_their_samples():
    many, few, _ = drawn("ridge_transfer", roles("ridge_transfer")).axes
    runs = measured("ridge").to_dataframe()
    assert (many.get_title(), few.get_title()) == ("a: n = 10, γ = 0.5", "b: n = 10, γ = 0.5")
    for i, angle in enumerate((0.125, 0.375)):
        theta = np.pi * angle
        points = at(runs, angle=angle, samples=10).groupby("ridge")["risk_final"]
        x, y, half = bars(many, f"θ = {angle:g} π")
        np.testing.assert_allclose(x, [1e-4, *PENALTIES[1:]])
        np.testing.assert_allclose((y, half), (points.mean(), points.std()))
        table = at(runs, angle=angle, samples=10).pivot(index="seed", columns="ridge", values="risk_final")
        change = table.sub(table[0.0], axis=0)[list(PENALTIES[1:])]
        np.testing.assert_allclose(np.asarray(few.containers[i][0].get_ydata(), float), change.mean())
        above, below = curves(many, "-", 4)[2 * i : 2 * i + 2], curves(few, "-", 4)[2 * i : 2 * i + 2]
        for (ridge, found), n in zip(above, (None, 10), strict=True):
            np.testing.assert_allclose(found, transfer.ridge_transfer_risk(theta, ridge, n, (n and SIGMA) or 0))
        for (ridge, found), n in zip(below, (None, 10), strict=True):
            risk, zero = (transfer.ridge_transfer_risk(theta, one, n, SIGMA) for one in (ridge, 0.0))
            np.testing.assert_allclose(found, risk - zero, atol=1e-12)


def test_averages_have_standard_errors_beside_the_theory():
    gained = [0.0, -0.02, -0.49, -0.51]  # theory: (1 − γ)(√2 − 1), and −(1 − γ)
    runs = pd.DataFrame({"transferability": gained, "angle": [0.25, 0.25, 0.5, 0.5], "gamma": 0.5, "noise": 0.0})
    table = averages(runs, ("angle", "gamma", "noise"))
    np.testing.assert_allclose(table[["mean", "sem"]], [[-0.01, 0.01], [-0.5, 0.01]])
    np.testing.assert_allclose(predict("finetuning", table), [0.5 * (np.sqrt(2) - 1), -0.5])


def test_shares_within_two_errors_are_told_by_block_and_only_where_a_formula_says_something():
    gamma, angle = (grid.ravel() for grid in np.meshgrid([0.1, 0.4, 0.5, 0.9, 1.0, 1.5], [0.1, 0.5]))
    table = pd.DataFrame({"gamma": gamma, "angle": angle, "noise": 0.2, "sem": 0.01})
    off = np.where((gamma == 0.4) & (angle == 0.1), 0.021, 0.019)
    table = table.assign(mean=predict("finetuning", table) + off)
    found = shares_in_words(table, ["finetuning"]).replace("\N{NO-BREAK SPACE}", " ")
    assert found == "eq 15: 75% at γ < 1/2, 100% at 1/2 ≤ γ < 1"


def test_the_best_penalty_has_the_smallest_mean_and_an_interval():
    rng = np.random.default_rng(0)
    penalties = np.array([0.1, 0.2, 0.3, 0.4])
    risk = (penalties - 0.2 - 0.05 * rng.standard_normal((30, 1))) ** 2
    assert best(pd.DataFrame(risk, columns=penalties), rng) == (0.2, 0.2, 0.2)
