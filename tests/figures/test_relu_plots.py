"""What the figures of clusters and dimensionality show: medians over seeds, the right runs, numbers of features."""

import numpy as np
import pytest

from carryover.config.parameters import model_of
from carryover.errors import UserError
from carryover.figures import clusters, dimensionality, relu_displacement, relu_least_penalty, relu_norms
from toy.relu_networks import LARGE, measured

ROLES = ("regimes", "overlap", "nested")
TOLD = {clusters: {"samples": 8, "auxiliary_features": 2}, dimensionality: {}}


def toy(module):
    return {role: measured(role, module.__name__.rpartition(".")[2]) for role in ROLES}


def drawn(module, roles=ROLES, **told):
    data = {role: dataset for role, dataset in toy(module).items() if role in roles}
    return module.draw(data, model_of(*module.__name__.split(".")[1:])(**{**TOLD[module], **told})).axes


def curve(ax, label):
    (line,) = [line for line in ax.get_lines() if line.get_label() == label]
    return line.get_xdata(), line.get_ydata()


def runs(role, measure, **chosen):
    """Rows of a toy dataset, picked and grouped by pandas."""
    table = measured(role, measure).to_dataframe().reset_index()
    for name, value in chosen.items():
        table = table[table[name] == value]
    return table


def dotted(ax):
    return [line for line in ax.get_lines() if line.get_label() == "features to learn"]


def test_inertias_are_medians_over_seeds_within_their_range():
    ax = drawn(clusters)[1]
    assert ax.get_title() == "teacher of 2 units\nlazy (initial scale 1)"
    for n in (4, 8):
        cell = runs("regimes", "clusters", main_features=2, initial_scale=1.0, samples=n).groupby("clusters")["inertia"]
        k, inertia = curve(ax, f"n = {n}")
        np.testing.assert_array_equal(k, [1, 2, 3, 4, 5])
        np.testing.assert_allclose(inertia, cell.median())
    low, high = cell.min(), cell.max()
    band = ax.collections[-1].get_paths()[0].vertices
    assert (band[:, 1].min(), band[:, 1].max()) == pytest.approx((low.min(), high.max()))


def test_alignment_by_regime_is_that_of_the_sparsest_teacher():
    ax = drawn(clusters)[4]
    expected = runs("regimes", "clusters", main_features=2, initial_scale=0.01, clusters=1).groupby("samples")
    n, alignment = curve(ax, "rich (initial scale 0.01)")
    np.testing.assert_array_equal(n, [4, 8])
    np.testing.assert_allclose(alignment, expected["alignment"].median())


@pytest.mark.parametrize(
    ("cosines", "protocol", "count"),
    [("1 1 1", "multi_task", 6), ("1 0 0.9", "multi_task", 8), ("-1", "multi_task", 7), ("1 0 0.9", "finetuning", 3)],
)
def test_features_are_counted_once_where_they_are_shared(cosines, protocol, count):
    assert clusters.features_to_learn(cosines, protocol, model_of("figures", "clusters")(auxiliary_features=6)) == count


def test_participation_ratio_after_finetuning_lies_beside_that_before():
    ax = drawn(dimensionality)[5]
    tuned = runs("nested", "dimensionality", main_features=1, samples=4, protocol="finetuning")
    _, before = curve(ax, "before finetuning")
    np.testing.assert_allclose(before, tuned["participation_ratio_start"].median())
    for overlap, label in ((0.0, "overlap 0 (disjoint)"), (1.0, "overlap 1 (subset)")):
        _, after = curve(ax, label)
        expected = tuned[tuned["overlap"] == overlap].groupby("rescale")["participation_ratio"].median()
        np.testing.assert_allclose(after, expected)
    (line,) = dotted(ax)
    assert line.get_ydata()[0] == 1


@pytest.mark.parametrize("module", [clusters, dimensionality])
def test_data_that_cannot_be_drawn_are_refused(module):
    p = model_of(*module.__name__.split(".")[1:])()
    with pytest.raises(UserError, match="draws the roles regimes, overlap, nested, of which there is none"):
        module.draw({"risk": LARGE["regimes"]}, p)
    with pytest.raises(UserError, match="no run has samples=32; see the options in"):
        module.draw({"nested": LARGE["nested"]}, model_of(*module.__name__.split(".")[1:])(nested_samples=(16, 32)))


def test_norms_and_distances_are_relative_to_the_least_that_there_is():
    data = {"norms": measured("overlap", "relu_norms"), "regimes": measured("regimes", "relu_norms"),
            "displacement": measured("overlap", "displacement")}  # fmt: skip
    single, joint, moved, tuned = relu_norms.draw(data, model_of("figures", "relu_norms")()).axes
    for ax, role, norm, protocol in (
        (joint, "relu_norms", "f12_norm", "multi_task"), (tuned, "relu_norms", "f1_norm", "finetuning"),
        (moved, "displacement", "penalty", "finetuning"),
    ):  # fmt: skip
        table = runs("overlap", role, protocol=protocol, unit_correlations="1 0")
        expected = (table[norm] / table[f"{norm}_teacher"]).groupby(table["samples"]).median()
        np.testing.assert_allclose(curve(ax, "cosines 1 × 1, 1 × 0")[1], expected)
    table = runs("regimes", "relu_norms", main_features=9, initial_scale=0.01)
    expected = (table["f1_norm"] / table["f1_norm_teacher"]).groupby(table["samples"]).median()
    np.testing.assert_allclose(curve(single, "STL, teacher of 9 units")[1], expected)


def test_gains_in_risk_are_those_of_the_same_seeds_over_gains_in_penalty():
    data = {role: measured(role, "displacement") for role in relu_displacement.DRAWN}
    data["risk"] = measured("magnitude", "risk")
    axes = relu_displacement.draw(data, model_of("figures", "relu_displacement")(samples=(8,))).axes
    where = {"samples": 8, "correlation": 0.8, "magnitude": 0.1}
    risks = runs("magnitude", "risk", **where).pivot_table(index="seed", columns="protocol", values="risk_final")
    penalties = runs("magnitude", "displacement", **where)
    expected = (penalties["penalty_new"] / penalties["penalty_paired"]).median()
    points = [container.lines[0].get_xydata()[0] for container in axes[-1].containers]
    assert any(
        np.allclose(point, (expected, (risks["single_task"] / risks["finetuning"]).median())) for point in points
    )
    table = runs("nested", "displacement", rescale=1.0, main_features=2, overlap=0.0)
    moved = (table["displacement"] / table["penalty"]).groupby(table["samples"]).median()
    np.testing.assert_allclose(curve(axes[1], "_2 new")[1], moved)
    assert min(moved) >= 1


def test_the_function_of_least_penalty_is_drawn_beside_that_which_is_found():
    table = runs("few", "least_penalty")
    p = model_of("figures", "relu_least_penalty")(unfitted=float(table["unfitted"].quantile(0.9)))
    table = table[table["unfitted"] <= p.unfitted]
    data = {role: measured(name, "least_penalty") for role, name in (("least", "few"), ("spread", "spread"))}
    figure = relu_least_penalty.draw(data, p)
    assert "of 48 networks are left out" in figure.legends[-1].get_title().get_text().replace("\n", " ")
    axes = {(ax.get_ylabel() or "", ax.get_title()): ax for ax in figure.axes}
    for name in ("risk_found", "risk_predicted"):
        table[name] = table[name].clip(lower=p.floor)
    table["penalty"] /= table["penalty_least"]
    cell = table[(table["samples"] == 3) & (table["correlation"] == 0.8)]
    tuned, scratch = (cell[cell["protocol"] == name] for name in ("finetuning", "single_task"))
    _, penalty = curve(axes["R̃ / least R̃", "n = 3"], "PT+FT, ρ = 0.8")
    np.testing.assert_allclose(penalty, tuned.groupby("magnitude")["penalty"].median())
    apart = runs("spread", "least_penalty", samples=3, correlation=0.8)
    apart = apart[apart["unfitted"] <= p.unfitted]
    ratios = (apart["penalty"] / apart["penalty_least"]).groupby(apart["magnitude"]).median()
    np.testing.assert_allclose(curve(axes["R̃ / least R̃", "n = 3"], "ρ = 0.8, turned apart")[1], ratios)
    _, turned = curve(axes["1 − cosine", "n = 3"], "ρ = 0.8")
    np.testing.assert_allclose(turned, tuned.groupby("magnitude")["turned"].median())
    risks = [one.set_index(["magnitude", "seed"])[["risk_found", "risk_predicted"]] for one in (scratch, tuned)]
    gains = (risks[0] / risks[1]).dropna().groupby("magnitude").median()
    gained = axes["risk of STL over PT+FT", "n = 3"]
    np.testing.assert_allclose(curve(gained, "ρ = 0.8")[1], gains["risk_found"])
    dashed = [line.get_ydata() for line in gained.get_lines() if line.get_linestyle() == "--"]
    np.testing.assert_allclose(dashed[0], gains["risk_predicted"])
