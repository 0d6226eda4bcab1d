"""What the figure of agreement shows: how far simulated deep linear networks end from the limit of the same data."""

import numpy as np
import pytest
import xarray as xr

from carryover.analysis.agreement import distances
from carryover.measures import coefficients
from toy.deep_linear_networks import drawn, line, measured, roles

pytestmark = pytest.mark.slow


def test_simulated_networks_are_held_against_the_limit_of_the_same_data():
    axes = drawn("linear_agreement").axes
    data = measured("agreement", measure=coefficients)
    beta = {}
    for r in range(data.sizes["run"]):
        run = data.isel(run=r)
        key = tuple(str(run[name].values) for name in ("protocol", "solver", "samples", "seed"))
        beta[key] = run["coefficients"].values
    runs = measured("agreement").to_dataframe()
    for column, (protocol, title) in enumerate(
        {"single_task": "STL", "finetuning": "PT+FT", "linear_transfer": "linear transfer"}.items()
    ):
        assert axes[column].get_title() == title
        for solver, label in (("descent", "gradient descent"), ("balanced", "flow of balanced networks")):
            if (protocol, solver) == ("linear_transfer", "balanced"):
                continue
            expected = []
            for n in ("3", "12"):
                pairs = [(beta[protocol, solver, n, s], beta[protocol, "exact", n, s]) for s in "012"]
                expected.append(np.median([np.linalg.norm(a - b) / np.linalg.norm(b) for a, b in pairs]))
            x, y = line(axes[column], label)
            np.testing.assert_allclose(x, [0.5, 2.0])
            np.testing.assert_allclose(y, expected, rtol=1e-5)
        trained = runs[(runs["protocol"] == protocol) & (runs["solver"] == "descent")]
        steps = axes[3 + column].get_lines()[0].get_ydata()
        np.testing.assert_allclose(steps, trained.groupby("gamma")["evaluations"].median())
        crosses = [curve.get_xdata() for curve in axes[3 + column].get_lines() if curve.get_marker() == "x"]
        short = trained.loc[trained["converged"] == 0, "gamma"]
        np.testing.assert_array_equal(np.unique(np.concatenate([*crosses, []])), np.unique(short))


def test_no_steps_lie_outside_the_axis_that_protocols_share():
    risk = measured("agreement")
    for factor in (1.0, 1e-3):  # of the protocol that is drawn last
        steps = risk["evaluations"] * np.where(risk["protocol"] == "linear_transfer", factor, 1.0)
        axes = drawn("linear_agreement", {"risk": risk.assign(evaluations=steps)}).axes[3:]
        bands = np.concatenate([ax.collections[0].get_paths()[0].vertices[:, 1] for ax in axes])
        low, high = axes[0].get_ylim()
        assert low <= bands.min() < bands.max() <= high


def test_one_protocol_can_be_drawn_alone():
    data = roles("linear_agreement")
    data = {role: runs.isel(run=runs["protocol"].values == "finetuning") for role, runs in data.items()}
    assert [ax.get_title() for ax in drawn("linear_agreement", data).axes] == ["PT+FT", ""]


def test_the_limit_of_a_run_has_all_its_coordinates_but_the_solver():
    names = {"protocol": ["finetuning"] * 6, "solver": ["descent"] * 3 + ["exact"] * 3, "noise": [0.0, 0.0, 1.0] * 2,
             "ridge": [np.nan, 0.5, np.nan] * 2, "seed": [0] * 6}  # fmt: skip
    beta = [[1.0, 3.0], [0.0, 2.5], [6.0, 8.0], [1.0, 2.0], [0.0, 2.0], [3.0, 4.0]]
    data = xr.Dataset({"coefficients": (("run", "input"), beta)}, {name: ("run", v) for name, v in names.items()})
    found = distances(data)
    np.testing.assert_allclose(found["distance"], [1 / np.sqrt(5), 0.25, 1.0])
    assert found["noise"].values.tolist() == [0.0, 0.0, 1.0]
    assert set(found["solver"].values) == {"descent"}
