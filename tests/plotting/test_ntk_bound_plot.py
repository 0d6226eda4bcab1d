"""What the figure of wide ReLU networks shows: medians over seeds of risks and bounds, and norms by distance."""

import re

import numpy as np
import pytest

from carryover.errors import UserError
from carryover.plotting import ntk_bound
from toy.drawn import notes_of
from toy.wide_relu_networks import roles

BOUND = roles("ntk_bound")["bound"]
NAMES = {"STL": "single_task", "PT+FT": "finetuning"}


def drawn(bound=BOUND):
    return ntk_bound.draw({"bound": bound}, ntk_bound.Parameters())


def lines(ax, label):
    return [line.get_data() for line in ax.get_lines() if line.get_label() == label]


def medians(quantity, along, **chosen):
    table = BOUND.to_dataframe().reset_index()
    for name, value in chosen.items():
        table = table[table[name] == value]
    found = table.groupby(along)[quantity].median()
    return found.index, found


@pytest.mark.parametrize(("panel", "distance"), [(0, 0.25), (1, 1.5)])
def test_risks_and_bounds_are_medians_over_seeds(panel, distance):
    ax = drawn().axes[panel]
    assert ax.get_title() == f"|Δ| = {distance:g}"
    limits = lines(ax, "infinite width")
    for (label, protocol), limit in zip(NAMES.items(), limits, strict=True):
        for solver, quantity, found in (
            ("descent", "absolute_risk", lines(ax, label)[0]),
            ("descent", "bound", lines(ax, f"{label}, first term of the bound")[0]),
            ("exact", "absolute_risk", limit),
        ):
            expected = medians(quantity, "samples", distance=distance, protocol=protocol, solver=solver)
            np.testing.assert_allclose(found, expected)
    (level,) = lines(ax, "before finetuning")
    chosen = {"distance": distance, "protocol": "finetuning", "solver": "descent"}
    np.testing.assert_allclose(level[1], medians("start_risk", "seed", **chosen)[1].median())


def test_where_the_bound_says_nothing_is_shaded():
    figure = drawn()
    for ax in figure.axes[:2]:
        (shade,) = [patch for patch in ax.patches if patch.get_label() == "vacuous bound"]
        assert shade.get_y() == 1
        assert shade.get_y() + shade.get_height() == ax.get_ylim()[1]
    assert (medians("bound", "samples", distance=1.5, protocol="finetuning", solver="descent")[1] > 1).any()


@pytest.mark.parametrize("quantity", ["ntk_norm", "ntk_norm_linear"])
def test_norms_at_most_samples_lie_over_their_distances_beside_both_constants(quantity):
    ax = drawn().axes[-1]
    assert ax.get_title() == "norm in the bound, n = 8"
    name = {"ntk_norm": "as pretrained", "ntk_norm_linear": "source learned exactly"}[quantity]
    (found,) = lines(ax, f"_{name}")
    expected = medians(quantity, "distance", samples=8, protocol="finetuning", solver="descent")
    np.testing.assert_allclose(found, expected)
    for label, slope in (("_3 |Δ| (corollary 6.2)", 3), ("_2 |Δ|", 2)):
        ((x, y),) = lines(ax, label)
        np.testing.assert_allclose(x, [0.25, 1.5])
        np.testing.assert_allclose(y, slope * x)


def test_the_title_says_how_often_the_bound_is_below_the_risk_before():
    for factor, share in ((1.0, None), (0.0, 100), (1e6, 0)):
        figure = drawn(BOUND.assign(bound=BOUND["bound"] * factor))
        (shown,) = re.findall(r"(\d+)%", notes_of(figure))
        table = BOUND.to_dataframe()
        table = table[(table["protocol"] == "finetuning") & (table["solver"] == "descent")]
        expected = round(100 * (table["bound"] < table["start_risk"]).mean()) if share is None else share
        assert int(shown) == expected
        assert "3 seeds" in notes_of(figure)


def test_panels_say_what_they_show():
    figure = drawn()
    assert all(ax.get_xlabel() for ax in figure.axes)
    assert figure.axes[0].get_ylabel()
    assert figure.axes[-1].get_ylabel()
    named = {text.get_text() for legend in figure.legends for text in legend.get_texts()}
    assert named == {label for ax in figure.axes for label in ax.get_legend_handles_labels()[1]}


def test_training_alone_can_be_drawn_and_finetuning_is_needed():
    trained = BOUND.isel(run=BOUND["solver"].values == "descent")
    assert not lines(drawn(trained).axes[0], "infinite width")
    with pytest.raises(UserError, match="no run has protocol=finetuning"):
        drawn(BOUND.isel(run=BOUND["protocol"].values == "single_task"))
