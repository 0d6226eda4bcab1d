"""A map pairs every transferred run with the one from scratch beside it, and says what is predicted of both."""

import numpy as np
import pytest
import xarray as xr

from carryover.claims.comparisons import atlas
from toy.atlas_runs import GRID, log_gain, mapped, options, runs


def frame(data):
    return data.to_dataframe().set_index(["protocol", "row", "samples", "seed"]).sort_index()


def test_gains_are_of_runs_on_the_same_samples_of_the_same_target():
    options()
    made = mapped()
    found = frame(made)
    assert len(found) == 3 * 3 * 6
    for (_, row, samples, seed), one in found.iterrows():
        expected = log_gain(GRID["overlap"][row], samples, seed, 0.01)
        assert one["gain"] == pytest.approx(expected, abs=1e-9)
        assert one["predicted"] == pytest.approx(2 * log_gain(GRID["overlap"][row], samples))
        assert one["similarity"] == GRID["overlap"][row]
        assert one["samples_per_parameter"] == samples / 10
    assert all(variable.attrs["long_name"] and variable.attrs["units"] for variable in made.variables.values())
    assert (made.attrs["map_family"], made.attrs["map_setting"]) == ("Toy", "")


def test_a_run_without_one_from_scratch_has_no_gain():
    risk = runs()
    gone = (risk["protocol"] == "single_task") & (risk["samples"] == 20) & (risk["seed"] == 3)
    found = frame(mapped(risk.isel(run=~gone)))["gain"]
    assert found.isna().sum() == 3
    assert found[found.isna()].index.droplevel(["protocol", "row"]).unique().tolist() == [(20, 3)]


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [("angle", [0.0, 1 / 3, 0.5], [0, 0.5, 1]), ("chord", [0.0, 1.0, 2.0], [-1, 0.5, 1]),
     ("lost", [0.0, 0.25, 1.0], [0, 0.75, 1]), ("value", ["0 0.5", "0.9 0.9", "1 1"], [0.25, 0.9, 1])],
)  # fmt: skip
def test_rows_stand_in_the_order_of_similarity(kind, values, expected):
    risk = runs()
    places = np.searchsorted(GRID["overlap"], risk["overlap"].values)
    risk = risk.assign_coords(how=("run", np.array(values)[places]))
    found = mapped(risk, similarity="how", similarity_of=kind).to_dataframe().groupby("row")["similarity"]
    np.testing.assert_allclose(found.mean(), expected, atol=1e-9)
    assert (found.nunique() == 1).all()


def test_similarity_may_be_a_ratio_that_runs_have_and_rows_a_coordinate():
    """Of 1 less the ratio of penalties, which falls with the gain; a pair has one row, whatever its seeds have."""
    risk = runs(spread=0.3)
    risk["distance"] = risk["risk_final"]
    made = mapped(risk, similarity="distance", similarity_of="saved", candidates=("distance",), row="overlap")
    np.testing.assert_allclose(made["similarity"], 1 - 10 ** -made["ratio_distance"], atol=1e-9)
    np.testing.assert_allclose(made["ratio_distance"], made["gain"], atol=1e-9)
    assert sorted(set(made["row"].values.tolist())) == [0, 1, 2]
    lowest = made["similarity"].groupby("row").mean().values
    assert (np.diff(lowest) > 0).all()


def test_a_finetuned_run_knows_what_the_readout_alone_gains_on_its_samples():
    found = frame(mapped(runs(("finetuning", "finetuning_probe")), protocols=("finetuning", "finetuning_probe")))
    tuned, probe = found.loc["finetuning"], found.loc["finetuning_probe"]
    np.testing.assert_allclose(tuned["probe_gain"], probe["gain"])
    assert probe["probe_gain"].isna().all()


def test_what_predicts_may_stand_in_another_dataset_which_not_every_protocol_has():
    risk = runs(("finetuning", "finetuning_probe"))
    theory = risk.isel(run=risk["protocol"].values == "finetuning")
    told = options(protocols=("finetuning", "finetuning_probe"), against="new")
    made = atlas.compare({"risk": risk[["risk_final"]], "theory": theory}, told)
    found = made["predicted"].groupby(made["protocol"]).count()
    assert found.to_series().to_dict() == {"finetuning": 54, "finetuning_probe": 0}
    xr.testing.assert_allclose(made["predicted"][made["protocol"].values == "finetuning"].max(),
                               xr.DataArray(2 * log_gain(1.0, 40)), check_dim_order=False)  # fmt: skip
