"""What the figures of clusters and dimensionality show: medians over seeds, the right runs, numbers of features."""

import numpy as np
import pytest

from carryover.errors import UserError
from carryover.plotting import clusters, dimensionality, relu_displacement, relu_least_penalty, relu_norms
from carryover.workflow.coordinate_labels import VALUE_LABELS
from toy.relu_networks import LARGE, LEAST, measured

pytestmark = pytest.mark.slow

ROLES = ("regimes", "overlap", "nested")
TOLD = {clusters: {"samples": 8, "auxiliary_features": 2}, dimensionality: {}}


def toy(module):
    return {role: measured(role, module.__name__.rpartition(".")[2]) for role in ROLES}


def drawn(module, roles=ROLES, **told):
    data = {role: dataset for role, dataset in toy(module).items() if role in roles}
    return module.draw(data, module.Parameters(**{**TOLD[module], **told})).axes


def curve(ax, label):
    (line,) = [line for line in ax.get_lines() if line.get_label() == label]
    return line.get_xdata(), line.get_ydata()


def labels(ax):
    return [line.get_label() for line in ax.get_lines()]


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


def test_panels_of_clusters_come_in_the_order_of_the_paper():
    figure_titles = [part.get_suptitle()[:4] for part in _groups(clusters)]
    assert [title.split(" ")[0] for title in figure_titles] == ["a", "b", "c,", "e", "f", "g"]
    titles = [ax.get_title().replace("\n", " ") for ax in drawn(clusters)]
    assert titles == [
        "teacher of 2 units rich (initial scale 0.01)", "teacher of 2 units lazy (initial scale 1)",
        "teacher of 9 units rich (initial scale 0.01)", "teacher of 9 units lazy (initial scale 1)",
        "teacher of 2 units", "PT+FT", "MTL", "cosines 2 × 0", "cosines 1 × 1, 1 × 0", "cosines 2 × 1",
        "n = 4", "n = 8", "n = 4", "n = 8",
    ]  # fmt: skip


def _groups(module):
    figure = module.draw(toy(module), module.Parameters(**TOLD[module]))
    return [group for row in figure.subfigs for group in row.subfigs]


def test_alignment_by_regime_is_that_of_the_sparsest_teacher():
    ax = drawn(clusters)[4]
    expected = runs("regimes", "clusters", main_features=2, initial_scale=0.01, clusters=1).groupby("samples")
    n, alignment = curve(ax, "rich (initial scale 0.01)")
    np.testing.assert_array_equal(n, [4, 8])
    np.testing.assert_allclose(alignment, expected["alignment"].median())


def test_features_to_learn_are_the_main_units_and_for_both_tasks_all_distinct_ones():
    axes = drawn(clusters)
    assert [line.get_xdata()[0] for line in dotted(axes[5])] == [2, 2, 2]  # PT+FT
    assert [line.get_xdata()[0] for line in dotted(axes[6])] == [4, 3, 2]  # 2 + 0, 1 and 2 that are not shared
    assert [line.get_xdata()[0] for line in dotted(axes[1])] == [2]
    assert not dotted(axes[2])  # nine lie beyond the axis
    assert [line.get_xdata()[0] for line in dotted(drawn(clusters, auxiliary_features=3)[6])] == [5, 4, 3]


@pytest.mark.parametrize(
    ("cosines", "protocol", "count"),
    [("1 1 1", "multi_task", 6), ("1 0 0.9", "multi_task", 8), ("-1", "multi_task", 7), ("1 0 0.9", "finetuning", 3)],
)
def test_features_are_counted_once_where_they_are_shared(cosines, protocol, count):
    assert clusters._features(cosines, protocol, clusters.Parameters(auxiliary_features=6)) == count


def test_networks_that_were_not_trained_whole_are_not_shown():
    assert "finetuning_kernel" in measured("overlap", "clusters")["protocol"].values
    for module, panel in ((clusters, 7), (dimensionality, 2)):
        ax = drawn(module)[panel]
        assert ax.get_title() == "cosines 2 × 0"
        assert labels(ax) == ["STL", "MTL", "PT+FT"]


def test_one_cluster_is_that_of_the_subset_with_multi_task_across_the_rescalings():
    ax = drawn(clusters)[10]
    chosen = runs("nested", "clusters", main_features=1, overlap=1.0, samples=4, clusters=1)
    for protocol in ("finetuning", "single_task"):
        expected = chosen[chosen["protocol"] == protocol].groupby("rescale")["inertia"].median()
        x, inertia = curve(ax, VALUE_LABELS["protocol"][protocol])
        np.testing.assert_array_equal(x, [0.5, 1.0])
        np.testing.assert_allclose(inertia, expected)
    x, inertia = curve(ax, "MTL")
    assert list(x) == [0, 1]  # of the panel's width
    np.testing.assert_allclose(inertia, chosen[chosen["protocol"] == "multi_task"]["inertia"].median())
    assert ax.get_yscale() == "log"


def test_alignment_over_rescalings_is_that_of_finetuning_by_overlap():
    ax = drawn(clusters, nested_samples=(8,), main_features=2)[-1]
    for overlap, label in ((0.0, "overlap 0 (disjoint)"), (1.0, "overlap 1 (subset)")):
        chosen = runs("nested", "clusters", main_features=2, overlap=overlap, samples=8, protocol="finetuning")
        _, alignment = curve(ax, label)
        np.testing.assert_allclose(alignment, chosen.groupby("rescale")["alignment"].median())


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


def test_before_after_and_shared_are_side_by_side():
    after, shared = drawn(dimensionality)[-2:]
    assert [ax.get_title() for ax in (after, shared)] == ["after: PR", "shared: ENSD"]
    tuned = runs("nested", "dimensionality", main_features=1, overlap=1.0, protocol="finetuning")
    for ax in (after, shared):
        before = curve(ax, "before finetuning: PR")[1]
        np.testing.assert_allclose(before, tuned["participation_ratio_start"].median())
    for ax, quantity in ((after, "participation_ratio"), (shared, "ensd")):
        for n in (4, 8):
            expected = tuned[tuned["samples"] == n].groupby("rescale")[quantity].median()
            np.testing.assert_allclose(curve(ax, f"n = {n}")[1], expected)


def test_lists_of_cosines_can_be_chosen():
    axes = drawn(clusters, roles=("overlap",), unit_correlations=("1 1", "1 0"))
    assert [label for label in labels(axes[0]) if "×" in label] == ["1 × 1, 1 × 0", "2 × 1"]
    assert [ax.get_title() for ax in axes[2:]] == ["cosines 1 × 1, 1 × 0", "cosines 2 × 1"]
    with pytest.raises(UserError, match="no run has unit_correlations=1 2; see the options in"):
        drawn(clusters, roles=("overlap",), unit_correlations=("1 2",))


@pytest.mark.parametrize("module", [clusters, dimensionality])
def test_any_of_the_roles_will_do(module):
    counts = {role: len(drawn(module, roles=(role,))) for role in ROLES}
    assert sum(counts.values()) == len(drawn(module))
    assert min(counts.values()) > 0


@pytest.mark.parametrize("module", [clusters, dimensionality])
@pytest.mark.parametrize("data", [LARGE, LEAST], ids=["large", "least"])
def test_other_scales_are_drawn_with_legends_that_stay_inside(module, data):
    figure = module.draw(data, module.Parameters())
    figure.draw_without_rendering()
    groups = [group for row in figure.subfigs for group in row.subfigs]
    assert len(groups) == len({group.get_suptitle() for group in groups}) > 3
    for group in groups:
        (legend,) = group.legends
        box = legend.get_window_extent()
        assert group.bbox.x0 - 1 <= box.x0 < box.x1 <= group.bbox.x1 + 1, group.get_suptitle()
        assert any(labels(ax) for ax in group.axes)


def test_what_an_experiment_lacks_is_left_out():
    without = LARGE["overlap"].isel(run=LARGE["overlap"]["protocol"].values != "multi_task")
    figure = clusters.draw({"overlap": without}, clusters.Parameters())
    assert figure.axes[0].get_title() == "PT+FT"
    assert figure.subfigs[0].subfigs[0].get_suptitle().startswith("c  Inertia")
    assert labels(figure.axes[-1]) == ["STL", "PT+FT"]


@pytest.mark.parametrize("module", [clusters, dimensionality])
@pytest.mark.parametrize("data", [LARGE, LEAST], ids=["large", "least"])
def test_nothing_lies_outside_the_axes(module, data):
    later = {role: runs.assign(alignment=-runs["alignment"] / 60) for role, runs in data.items()}
    names = ["participation_ratio", "participation_ratio_start", "ensd"]
    grown = {role: runs.assign({v: runs[v] * runs["samples"] for v in names}) for role, runs in later.items()}
    for ax in module.draw(grown, module.Parameters()).axes:
        low, high = ax.get_ylim()
        for line in ax.get_lines():
            values = np.asarray(line.get_ydata(), dtype=float)
            if line not in dotted(ax):
                assert low <= values.min(), ax.get_title()
                assert values.max() <= high, ax.get_title()


@pytest.mark.parametrize("module", [clusters, dimensionality])
def test_data_that_cannot_be_drawn_are_refused(module):
    p = module.Parameters()
    with pytest.raises(UserError, match="draws the roles regimes, overlap, nested, of which there is none"):
        module.draw({"risk": LARGE["regimes"]}, p)
    with pytest.raises(UserError, match=r"data of the role overlap have no unit_correlations; they have "):
        module.draw({"overlap": LARGE["regimes"]}, p)
    kernels = LARGE["overlap"].assign_coords(protocol=("run", ["finetuning_kernel"] * LARGE["overlap"].sizes["run"]))
    with pytest.raises(UserError, match="role overlap have no run of single_task, multi_task, finetuning"):
        module.draw({"overlap": kernels}, p)
    with pytest.raises(UserError, match="main_features=7; see the options in"):
        module.draw({"nested": LARGE["nested"]}, module.Parameters(main_features=7))
    with pytest.raises(UserError, match="no run has samples=32; see the options in"):
        module.draw({"nested": LARGE["nested"]}, module.Parameters(nested_samples=(16, 32)))


def test_inertias_by_overlap_need_runs_of_the_sample_size():
    with pytest.raises(UserError, match="no run has protocol=finetuning, samples=65; see the options in"):
        clusters.draw({"overlap": LARGE["overlap"]}, clusters.Parameters(samples=65))


def test_norms_and_distances_are_relative_to_the_least_that_there_is():
    data = {"norms": measured("overlap", "relu_norms"), "regimes": measured("regimes", "relu_norms"),
            "displacement": measured("overlap", "displacement")}  # fmt: skip
    single, joint, moved, tuned = relu_norms.draw(data, relu_norms.Parameters()).axes
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
    axes = relu_displacement.draw(data, relu_displacement.Parameters(samples=(8,))).axes
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
    p = relu_least_penalty.Parameters(unfitted=float(table["unfitted"].quantile(0.9)))
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
