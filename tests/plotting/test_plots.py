"""Every plot draws tiny data that the family itself made: a figure whose panels and legends are not empty."""

import importlib
import re
from contextlib import suppress
from functools import cache
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr

from carryover.analysis import claims_table, intervals, published_risks
from carryover.analysis.agreement import distances
from carryover.config import parameters, plugins
from carryover.curves import relu_penalty
from carryover.drawing import finishing, panels
from carryover.errors import UserError
from carryover.families.deep_linear import finetune as deep_linear
from carryover.families.diagonal import finetune
from carryover.families.mean_field import finetune as mean_field
from carryover.families.relu import finetune as relu
from carryover.labels import labelled
from carryover.measures import coefficients, norms, risk, sparsity, trajectory
from carryover.plotting import risk_curves
from carryover.workflow import asked_in_vain
from carryover.workflow.coordinate_labels import VALUE_LABELS, named
from collect import collect
from toy import (
    convnet_networks,
    deep_linear_networks,
    image_pair_networks,
    mean_field_networks,
    relu_toys,
    wide_relu_networks,
)
from toy.atlas_runs import mapped
from toy.diagonal_networks import SEEDS, classifying, endless, measured
from toy.drawn import legends_of
from toy.relu_networks import measured as measured_relu

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "resources/published/feature-reuse-risk.csv"


@cache
def relu_by_flow_and_descent():
    start = relu_toys.pretrained(seeds=SEEDS)
    told = {"seeds": SEEDS, "samples": (4, 8), "tolerance": 1e-2, "max_epochs": 2000}
    runs = [
        relu_toys.finetuned(start, protocol, initial_scale=(0.5,), readout_scale=0.5, **told, **how)
        for protocol in ("single_task", "finetuning")
        for how in ({"solver": "flow"}, *({"solver": "descent", "learning_rate": rate} for rate in (0.1, 0.02)))
    ]
    return named(collect([risk.measure(run, risk.Parameters()) for run in runs]), "relu")


def near_published(experiment):
    """Runs of every published cell of an experiment, as if each seed had found the published mean, or nearly."""
    table = published_risks.cells(published_risks.read(TABLE), "diagonal")
    rows = [row for _, row in table[table["experiment"] == experiment].iterrows() for _ in SEEDS]
    columns = {name: ("run", np.array([row[name] for row in rows])) for name in published_risks.CELLS["diagonal"]}
    means = np.array([row["risk_mean"] for row in rows])
    factors = np.tile([0.8, 1.3], len(rows) // 2)
    return xr.Dataset(
        {"risk_final": ("run", means * factors), "risk_best": ("run", means / factors)},
        coords={**columns, "seed": ("run", np.tile(SEEDS, len(rows) // 2)), "solver": ("run", ["flow"] * len(rows))},
    )


def claimed():
    """A table of claims of two groups, of two papers; of one no interval is known."""
    values = {"up": [1.0, 1.1, 1.2], "open": [-1.0, 0.0, 1.5], "none": [np.nan], "same": [2.0, 2.0]}
    rows = [(name, f"{name} is above 0 " * 12, drawn, 0.0) for name, drawn in values.items()]
    checked = intervals.table(rows, "Fig. 1", "number")
    groups = {name: checked.assign(paper=("claim", [name] * len(rows)), data=("claim", [""] * len(rows)))
              for name in ("Paper", "Other")}  # fmt: skip
    return claims_table.gathered(groups)


CURVE = (relu_penalty.compute, relu_penalty.Parameters(points=21))
RISK, SPARSITY = (measured, "overlapping", risk), (measured, "overlapping", sparsity)
RESCALED = {"columns": "main_features", "rows": "overlap", "hue": ("rescale",), "only": ("protocol=single_task",)}
RELU = {
    measure: {experiment: (measured_relu, experiment, measure) for experiment in ("regimes", "overlap", "nested")}
    for measure in ("clusters", "dimensionality")
}
MOVED = {experiment: (measured_relu, experiment, "displacement") for experiment in ("overlap", "nested", "magnitude")}
NORMS = {"norms": (measured_relu, "overlap", "relu_norms"), "regimes": (measured_relu, "regimes", "relu_norms")}
# {plot: [({role: how its data are made}, parameters, number of panels)]}
DRAWN = {
    "relu_penalty": [({"curve": CURVE}, {"quantity": quantity}, 5) for quantity in ("penalty", "exponent")],
    "risk_curves": [
        ({"risk": RISK}, {"columns": "overlap"}, 3),
        ({"risk": RISK}, {"columns": "overlap", "quantity": "risk_best", "only": ("solver=flow",)}, 3),
        ({"risk": (measured, "nested", risk)}, RESCALED, 4),
        (
            {"risk": (measured_relu, "magnitude", "risk")},
            {"columns": "magnitude", "rows": "correlation", "relative_to": "magnitude", "apart": 0.05},
            4,
        ),
    ],
    "diagonal_solutions": [
        (
            {
                "norms": (measured, "overlapping", norms),
                "sparsity": SPARSITY,
                "rescaled": (measured, "nested", sparsity),
            },
            {"samples": 4},
            12,
        )
    ],
    "solver_agreement": [
        (
            {m.__name__.rpartition(".")[2]: (measured, "agreeing", m) for m in (coefficients, trajectory, risk)}
            | {"relu": (relu_by_flow_and_descent,)},
            {"samples": 4},
            10,
        )
    ],
    "cross_entropy": [
        ({"diagonal": (classifying,)}, {}, 3),
        ({"relu": (classifying,)}, {"fitted": 0.5}, 3),
        ({"diagonal": (classifying,), "relu": (classifying,)}, {}, 6),
    ],
    "endless_training": [({"trajectory": (endless,)}, {"most": 10.0}, 3)],
    "clusters": [
        (RELU["clusters"], {"samples": 8, "auxiliary_features": 2}, 14),
        (RELU["clusters"], {"samples": 8, "auxiliary_features": 2, "nested_samples": (4,), "main_features": 2}, 12),
        ({"nested": RELU["clusters"]["nested"]}, {"only": ("protocol=finetuning",)}, 4),
    ],
    "dimensionality": [
        (RELU["dimensionality"], {}, 9),
        (RELU["dimensionality"], {"nested_samples": (8,), "main_features": 2}, 8),
        ({"overlap": RELU["dimensionality"]["overlap"]}, {"only": ("samples=4",)}, 3),
    ],
    "relu_norms": [(NORMS | {"displacement": MOVED["overlap"]}, {}, 4)],
    "relu_displacement": [(MOVED | {"risk": (measured_relu, "magnitude", "risk")}, {"samples": (4, 8)}, 6)],
    "atlas": [({"one": (mapped,), "other": (mapped,)}, {}, 3), ({"one": (mapped,)}, {"settings": True}, 2)],
    "relu_least_penalty": [
        (
            {"least": (measured_relu, "few", "least_penalty"), "spread": (measured_relu, "spread", "least_penalty")},
            {"unfitted": 1.0},
            8,
        )
    ],
    "claims": [({"claims": (claimed,)}, {}, 4), ({"claims": (claimed,)}, {"paper": "Other"}, 2)],
    "published_risk": [
        (
            {"published": (published_risks.read, TABLE), **{e: (near_published, e) for e in ("overlap", "nested")}},
            {},
            4,
        )
    ],
}


# {plot: [(module that has its `roles`, parameters, number of panels with those of colour bars)]}
TRANSFER = {
    "transfer_diagram": [
        (deep_linear_networks, {}, 5),
        (deep_linear_networks, {"protocol": "finetuning", "noise": 0.0}, 5),
    ],
    "norm_factor": [(deep_linear_networks, {}, 4)],
    "ridge_transfer": [(deep_linear_networks, {}, 3)],
    "regularised_scratch": [(deep_linear_networks, {}, 5)],
    "dataset_distances": [(deep_linear_networks, {}, 10)],
    "linear_agreement": [(deep_linear_networks, {}, 6)],
    "frozen_layer": [(deep_linear_networks, {}, 3)],
    "gaussian_bounds": [(deep_linear_networks, {}, 3)],
    "covariance_bound": [(deep_linear_networks, {}, 3)],
    "ntk_bound": [(wide_relu_networks, {}, 3)],
    "bound_correlations": [(image_pair_networks, {}, 4)],
    "norm_scale": [(deep_linear_networks, {}, 4)],
    "teacher_sensitivity": [(deep_linear_networks, {}, 2)],
    "mean_field_transfer": [(mean_field_networks, {"smallest": 8}, 17)],
    "mean_field_anchor": [(mean_field_networks, {}, 3)],
    "convnet_rescaling": [(convnet_networks, {}, 4)],
    "convnet_controls": [(convnet_networks, {}, 3)],
    "stage_dimensionality": [(convnet_networks, {}, 6)],
}


def cases(name):
    """(data by role, parameters, number of panels) of what is drawn of a plot."""
    for roles, told, count in DRAWN.get(name, []):
        yield {role: make(*what) for role, (make, *what) in roles.items()}, told, count
    for networks, told, count in TRANSFER.get(name, []):
        yield networks.roles(name), told, count


def test_every_plot_is_tried():
    assert {*DRAWN, *TRANSFER} == set(plugins.names("plotting"))


@pytest.mark.parametrize("name", plugins.names("plotting"))
def test_a_plot_has_something_in_every_panel_and_a_legend(name):
    module = importlib.import_module(f"carryover.plotting.{name}")
    for data, told, count in cases(name):
        p = module.Parameters(**told)
        parameters.check(p)
        figure = module.draw(data, p)
        figure.draw_without_rendering()  # lays it out: too little room is a warning
        assert isinstance(figure, plt.Figure)
        assert len(figure.axes) == count
        for ax in figure.axes:
            drawn = [line for line in ax.get_lines() if np.isfinite(np.asarray(line.get_ydata(), dtype=float)).any()]
            assert drawn or ax.collections or ax.images or ax.texts, ax.get_title()
        legends = [*legends_of(figure), *(ax.get_legend() for ax in figure.axes if ax.get_legend())]
        assert legends
        for legend in legends:
            labels = [text.get_text() for text in legend.get_texts()]
            assert labels or legend.get_title().get_text()
            assert len(labels) == len(set(labels))
        assert figure.get_suptitle()


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


def test_distances_are_relative_to_the_exact_limit_of_the_same_run():
    names = {"protocol": ["finetuning"] * 4, "samples": [4] * 4, "overlap": [1.0] * 4,
             "main_features": [2] * 4, "rescale": [1.0] * 4, "seed": [0, 1, 1, 0],
             "solver": ["exact", "exact", "flow", "flow"]}  # fmt: skip
    beta = [[3.0, 4.0], [0.0, 2.0], [0.0, 1.0], [3.0, 4.5]]
    data = xr.Dataset({"coefficients": (("run", "input"), beta)}, coords={k: ("run", v) for k, v in names.items()})
    found = distances(data)
    assert found["seed"].values.tolist() == [1, 0]
    np.testing.assert_allclose(found["distance"], [0.5, 0.1])


def without_numbers(data):
    floats = [name for name, values in data.items() if values.dtype.kind == "f"]
    return data.assign(**{name: data[name] * np.nan for name in floats})


@pytest.mark.filterwarnings("ignore")  # of NumPy and Matplotlib, on what is empty
@pytest.mark.parametrize("name", plugins.names("plotting"))
def test_of_data_without_a_number_a_plot_is_empty_or_a_sentence(name):
    draw = importlib.import_module(f"carryover.plotting.{name}").draw
    for roles, told, _ in cases(name):
        data = {role: without_numbers(one) for role, one in roles.items()}
        p = importlib.import_module(f"carryover.plotting.{name}").Parameters(**told)
        with suppress(UserError), asked_in_vain.numbers_needed(draw, data):
            finishing.laid_out(draw)(data, p).draw_without_rendering()


@pytest.mark.parametrize(
    ("title", "fault"), [("$\\frac{1}{$", "Expected"), ("$$", "Expected end"), ("$\\foo$", "Unknown")]
)
def test_a_title_that_is_no_mathematics_is_named(title, fault):
    def draw(_, __):
        figure, _ = plt.subplots(layout="constrained")
        figure.suptitle(title)
        return figure

    with pytest.raises(UserError, match=f"^the text {re.escape(title)} is no mathematics: {fault}"):
        finishing.laid_out(draw)({}, None)
