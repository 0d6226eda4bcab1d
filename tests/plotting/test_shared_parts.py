"""What plots share: runs that are chosen, values in order, names, colours, curves."""

import numpy as np
import pytest

from carryover.drawing import panels
from carryover.errors import UserError
from carryover.families.deep_linear import finetune as deep_linear
from carryover.families.diagonal import finetune
from carryover.families.mean_field import finetune as mean_field
from carryover.families.relu import finetune as relu
from carryover.labels import labelled
from carryover.measures import risk
from carryover.plotting import risk_curves
from carryover.workflow.coordinate_labels import VALUE_LABELS
from toy.diagonal_networks import SEEDS, measured
from toy.relu_networks import measured as measured_relu

pytestmark = pytest.mark.slow


def test_where_keeps_the_runs_that_were_asked_for():
    data = measured("overlapping", risk)
    kept = panels.where(data, protocol="finetuning", overlap=0.5, samples="4")
    assert set(kept["protocol"].values) == {"finetuning"}
    assert set(kept["overlap"].values) == {0.5}
    assert kept["seed"].values.tolist() == SEEDS
    assert panels.where(data).identical(data)


def test_where_there_are_no_runs_is_said():
    with pytest.raises(UserError, match=r"^no run has protocol=finetuning, samples=5; see the options in"):
        panels.where(measured("overlapping", risk), protocol="finetuning", samples=5)


def test_values_come_in_the_order_of_the_field():
    data = measured("overlapping", risk)
    assert panels.values(data, "protocol") == [
        "single_task", "multi_task", "finetuning", "single_task_probe", "finetuning_probe"
    ]  # fmt: skip
    assert panels.values(data, "samples") == [3, 4, 6, 8]
    others = {*relu.PRETRAINED, *relu.SCRATCH, *deep_linear.PRETRAINED, *mean_field.SOLVERS}
    protocols = VALUE_LABELS["protocol"].keys()
    assert protocols == panels.COLORS.keys() == {*finetune.PROTOCOLS, *others}
    assert len(set(panels.colors("protocol", protocols))) == len(protocols)
    assert len(np.unique(panels.colors("samples", [3, 4, 6]), axis=0)) == 3


def test_names_are_readable():
    data = measured("overlapping", risk)
    assert panels.name(data, "protocol", "finetuning") == "PT+FT"
    assert panels.name(data, "overlap", np.float64(0.5)) == "overlap 0.5"
    assert panels.name(data, "solver", "flow") == "solver flow"
    assert panels.name(data, "solver", "exact") == "exact limits"


def test_a_coordinate_and_a_protocol_that_no_figure_knows_are_drawn_as_their_data_say():
    """A family brings protocols and coordinates of its own: in its labels, and in no table of the figures."""
    data = measured("overlapping", risk)
    other = np.where(data["protocol"] == "multi_task", "distilled", data["protocol"])
    data = data.assign_coords(protocol=("run", other, data["protocol"].attrs), warmth=("run", data["overlap"].values))
    data = labelled(data, {"warmth": "warmth τ ="}, {"protocol": {"distilled": "KD", "finetuning": "PT+FT"}})
    figure = risk_curves.draw({"risk": data}, risk_curves.Parameters(columns="warmth"))
    assert [ax.get_title() for ax in figure.axes] == ["warmth τ = 0", "warmth τ = 0.5", "warmth τ = 1"]
    shown = [text.get_text() for text in figure.legends[0].get_texts()]
    assert shown[:2] == ["KD", "PT+FT"]
    assert set(shown[2:]) == {"single_task", "single_task_probe", "finetuning_probe"}
    assert panels.color("distilled") == panels.color("distilled") != panels.color("finetuning")


def test_more_columns_than_a_page_has_room_for_take_several_lines():
    data = measured("overlapping", risk)
    many = data.assign_coords(warmth=("run", np.arange(data.sizes["run"]) % 8))
    axes = risk_curves.draw({"risk": many}, risk_curves.Parameters(columns="warmth")).axes
    places = [(ax.get_subplotspec().rowspan.start, ax.get_subplotspec().colspan.start) for ax in axes]
    assert places == [(row, column) for row in range(2) for column in range(4)]
    assert all(ax.get_title() for ax in axes)
    assert len({ax.get_ylim() for ax in axes}) == 1
    seven = many.isel(run=(many["warmth"] < 7).values)
    axes = risk_curves.draw({"risk": seven}, risk_curves.Parameters(columns="warmth")).axes
    assert len(axes) == 7
    assert [bool(ax.get_xlabel()) for ax in axes] == [False] * 3 + [True] * 4  # the one above the gap, too


def test_curves_are_chosen_named_and_moved_apart_and_risks_are_relative_to_squares():
    data = measured_relu("magnitude", "risk")
    told = {"columns": "magnitude", "relative_to": "magnitude", "hue": ("correlation", "protocol"), "shown": ("0.8",)}
    p = risk_curves.Parameters(**told, names=("from scratch", "finetuned"), apart=1.0)
    ax = risk_curves.draw({"risk": data}, p).axes[0]
    lines = {line.get_label(): line.get_xydata() for line in ax.get_lines() if line.get_marker() == "o"}
    for name, protocol, factor in (("from scratch", "single_task", 2**-0.5), ("finetuned", "finetuning", 2**0.5)):
        runs = panels.where(data, protocol=protocol, correlation=0.8, magnitude=0.1).to_dataframe()
        expected = runs.groupby("samples")["risk_final"].median() / 0.01
        np.testing.assert_allclose(lines.pop(name), np.transpose([expected.index * factor, expected]))
    assert not lines
    with pytest.raises(UserError, match="names: there are 2 curves, not 1"):
        risk_curves.draw({"risk": data}, risk_curves.Parameters(**told, names=("one",)))
    with pytest.raises(UserError, match=r"^shown: there is no correlation 0\.7; there are 0\.8, "):
        risk_curves.draw({"risk": data}, risk_curves.Parameters(**{**told, "shown": ("0.8", "0.7")}))
