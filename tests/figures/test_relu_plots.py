"""What the figures of ReLU networks show: medians over seeds, the right runs, numbers of features."""

import numpy as np
import pytest

from carryover.figures import relu_penalties
from carryover.figures.relu_features import features_to_learn
from toy.drawn import drawn, line, rows
from toy.relu_networks import measured

ROLES = ("regimes", "overlap", "nested")


def runs(role, measure, **condition):
    return rows(measured(role, measure), **condition)


def ratios(table, numerator, denominator):
    return (table[numerator] / table[denominator]).groupby(table["magnitude"]).median()


def test_inertias_are_medians_over_seeds():
    data = {role: measured(role, "clusters") for role in ROLES}
    ax = drawn("clusters", data, samples=8).axes[1]
    assert ax.get_title() == "teacher of 2 units\nlazy (initial scale 1)"
    for n in (4, 8):
        cell = runs("regimes", "clusters", main_features=2, initial_scale=1.0, samples=n).groupby("clusters")["inertia"]
        k, inertia = line(ax, f"n = {n}")
        np.testing.assert_array_equal(k, [1, 2, 3, 4, 5])
        np.testing.assert_allclose(inertia, cell.median())


@pytest.mark.parametrize(
    ("cosines", "protocol", "count"),
    [("1 1 1", "multi_task", 6), ("1 0 0.9", "multi_task", 8), ("-1", "multi_task", 7), ("1 0 0.9", "finetuning", 3)],
)
def test_features_are_counted_once_where_they_are_shared(cosines, protocol, count):
    assert features_to_learn(cosines, protocol) == count


def test_gains_in_risk_are_those_of_the_same_seeds_over_gains_in_penalty():
    data = {role: measured(role, "displacement") for role in ("overlap", "nested", "magnitude")}
    data["risk"] = measured("magnitude", "risk")
    axes = drawn("relu_displacement", data, samples=(8,)).axes
    where = {"samples": 8, "correlation": 0.8, "magnitude": 0.1}
    risks = runs("magnitude", "risk", **where).pivot_table(index="seed", columns="protocol", values="risk_final")
    penalties = runs("magnitude", "displacement", **where)
    expected = (
        (penalties["penalty_new"] / penalties["penalty_paired"]).median(),
        (risks["single_task"] / risks["finetuning"]).median(),
    )
    points = [container.lines[0].get_xydata()[0] for container in axes[-1].containers]
    assert any(np.allclose(point, expected) for point in points)


def test_the_function_of_least_penalty_is_drawn_beside_that_which_is_found(monkeypatch):
    table = runs("few", "least_penalty")
    unfitted = float(table["unfitted"].quantile(0.9))
    monkeypatch.setattr(relu_penalties, "UNFITTED", unfitted)
    data = {role: measured(name, "least_penalty") for role, name in (("least", "few"), ("spread", "spread"))}
    figure = drawn("relu_least_penalty", data)
    assert "of 48 networks are left out" in figure.legends[-1].get_title().get_text().replace("\n", " ")
    axes = {(ax.get_ylabel() or "", ax.get_title()): ax for ax in figure.axes}
    table = table[(table["unfitted"] <= unfitted) & (table["samples"] == 3) & (table["correlation"] == 0.8)]
    tuned, scratch = (table[table["protocol"] == name] for name in ("finetuning", "single_task"))
    penalties = axes["R̃ / least R̃", "n = 3"]
    expected = ratios(tuned, "penalty", "penalty_least")
    np.testing.assert_allclose(line(penalties, "PT+FT, ρ = 0.8")[1], expected)
    apart = runs("spread", "least_penalty", samples=3, correlation=0.8)
    expected = ratios(apart[apart["unfitted"] <= unfitted], "penalty", "penalty_least")
    np.testing.assert_allclose(line(penalties, "ρ = 0.8, turned apart")[1], expected)
    turned = tuned.groupby("magnitude")["rotation"].median()
    np.testing.assert_allclose(line(axes["1 − cosine", "n = 3"], "ρ = 0.8")[1], turned)
    names, floor = ["risk_found", "risk_predicted"], relu_penalties.FLOOR
    risks = [one.set_index(["magnitude", "seed"])[names].clip(lower=floor) for one in (scratch, tuned)]
    gains = (risks[0] / risks[1]).dropna().groupby("magnitude").median()
    gained = axes["risk of STL over PT+FT", "n = 3"]
    np.testing.assert_allclose(line(gained, "ρ = 0.8")[1], gains["risk_found"])
    dashed = [one.get_ydata() for one in gained.get_lines() if one.get_linestyle() == "--"]
    np.testing.assert_allclose(dashed[0], gains["risk_predicted"])
