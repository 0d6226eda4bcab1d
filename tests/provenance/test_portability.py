"""What is promised elsewhere: the weakest of what something is made of; what agrees to rounding, and what does not."""

import importlib

import numpy as np
import pytest
import xarray as xr

from carryover.config import plugins
from carryover.provenance import job_record, portability
from carryover.provenance.portability import LEVELS, difference


def made(values, **others):
    values = np.asarray(values, dtype=float)
    data = {"risk": (("run", "step"), values), "fitted": ("run", np.full(len(values), 1e-30))}
    return xr.Dataset({**data, **others}, coords={"seed": ("run", np.arange(len(values)))})


@pytest.mark.parametrize(("precision", "limit"), [("float32", 2.0**-11.5), ("float64", 2.0**-26)])
def test_half_of_the_digits_must_agree(precision, limit):
    expected = made(100 * np.random.default_rng(0).standard_normal((3, 4)))
    largest = np.abs(expected["risk"].values).max()
    for share, alike in ((0.9 * limit, True), (1.1 * limit, False)):
        found = difference(expected.assign(risk=expected["risk"] + share * largest), expected, precision)
        assert (found == "") == alike


def test_all_else_must_be_the_same():
    expected = made([[1.0, np.nan], [np.inf, 2.0]], steps=("run", [3, 4]), solver=("run", ["exact", "descent"]))
    assert difference(expected, expected) == ""
    for name, values in (
        ("steps", [3, 5]),
        ("solver", ["exact", "flow"]),
        ("risk", [[1.0, 1.0], [np.inf, 2.0]]),
        ("risk", [[1.0, np.nan], [-np.inf, 2.0]]),
    ):
        assert difference(expected.assign({name: (expected[name].dims, values)}), expected)
    for other in (expected.assign_attrs(a=1), expected.drop_vars("steps"), expected.drop_vars("risk")):
        assert difference(other, expected)
    assert difference(expected.isel(run=[0]), expected)


def test_every_plug_in_promises_one_of_the_levels():
    for kind in ("measures", "theory.curves", "claims.comparisons", "claims", "figures", "figures.tables"):
        for name in plugins.names(kind):
            importlib.import_module(f"carryover.{kind}.{name}")
            assert portability.promised([kind, f"carryover.{kind}.{name}"]) in LEVELS


def test_a_record_promises_no_more_than_its_inputs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def record(output, portable, *inputs):
        kwargs = {"inputs": inputs, "outputs": [output], "modules": ["carryover.provenance.store"], "command": ["x"]}
        with job_record.Job(rule="r", portable=portable, **kwargs) as job:
            job.path(output).write_text("x")
        return job_record.read(f"{output}.json")["portable"]

    (tmp_path / "outside").write_text("x")
    assert record("a", "bits", "outside") == {"job": "bits", "result": "bits"}
    assert record("b", "distribution") == {"job": "distribution", "result": "distribution"}
    assert record("d", "bits", "a", "b") == {"job": "bits", "result": "distribution"}
