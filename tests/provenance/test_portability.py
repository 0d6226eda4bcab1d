"""What is promised elsewhere: the weakest of what something is made of; what agrees to rounding, and what does not."""

import importlib

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from carryover.config import plugins
from carryover.provenance import job_record, portability
from carryover.provenance.portability import LEVELS, largest_difference

FIXED = settings(derandomize=True, deadline=None, max_examples=50)


def made(values, **others):
    values = np.asarray(values, dtype=float)
    data = {"risk": (("run", "step"), values), "fitted": ("run", np.full(len(values), 1e-30))}
    return xr.Dataset({**data, **others}, coords={"seed": ("run", np.arange(len(values)))})


@FIXED
@given(st.integers(0, 10**6), st.sampled_from(["float32", "float64"]), st.floats(0.01, 100))
def test_half_of_the_digits_must_agree(seed, precision, scale):
    rng = np.random.default_rng(seed)
    expected = made(scale * rng.standard_normal((3, 4)))
    limit = {"float32": 2.0**-11.5, "float64": 2.0**-26}[precision]
    direction = rng.uniform(-1, 1, (3, 4))
    direction.flat[0] = 1.0
    largest = np.abs(expected["risk"].values).max()
    for share, alike in ((0.9 * limit, True), (1.1 * limit, False)):
        found = expected.assign(risk=expected["risk"] + share * largest * direction)
        worst, text = largest_difference(found, expected, precision)
        assert (worst is not None) == alike
        assert (text == "risk") if alike else text.startswith("risk differs by ")
        assert worst == pytest.approx(share, rel=1e-3) if alike else True


def test_whole_numbers_texts_and_missing_values_must_be_the_same():
    expected = made([[1.0, np.nan], [np.inf, 2.0]], steps=("run", [3, 4]), solver=("run", ["exact", "descent"]))
    assert largest_difference(expected, expected) == (0.0, "")
    for name, values, said in (
        ("steps", [3, 5], "steps is another one in 50% of its values"),
        ("solver", ["exact", "flow"], None),
        ("steps", [3.0, 4.0], "steps is of another type or other dimensions"),
        ("risk", [[1.0, 1.0], [np.inf, 2.0]], "risk has missing values in other places"),
        ("risk", [[1.0, np.nan], [-np.inf, 2.0]], "risk has missing values in other places"),
    ):
        share, text = largest_difference(expected.assign({name: (expected[name].dims, values)}), expected)
        assert share is None
        assert said in (None, text)
    for other in (expected.assign_attrs(a=1), expected.assign(steps=expected["steps"].assign_attrs(units="1"))):
        assert largest_difference(other, expected)[1].endswith("has other attributes")
    assert largest_difference(expected.drop_vars("steps"), expected) == (None, "other variables or sizes: steps")
    assert largest_difference(expected.isel(run=[0]), expected)[0] is None


def test_every_plug_in_promises_one_of_the_levels():
    for kind in ("measures", "curves", "comparisons", "claims", "plotting", "tables"):
        for name in plugins.names(kind):
            importlib.import_module(f"carryover.{kind}.{name}")
            assert portability.promised([kind, f"carryover.{kind}.{name}"]) in LEVELS
    chaotic = {"relu.descent", "relu.flow", "mean_field.descent", "mean_field.flow", "convnet.descent"}
    for name in chaotic:
        importlib.import_module(f"carryover.families.{name}")
        modules = ["finetune", "carryover.families.relu.finetune", f"carryover.families.{name}"]
        assert portability.promised(modules) == "distribution"


def test_a_record_promises_no_more_than_its_inputs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def record(output, portable, *inputs):
        told = {"inputs": inputs, "outputs": [output], "modules": ["carryover.provenance.store"], "command": ["x"]}
        with job_record.Job(rule="r", portable=portable, **told) as job:
            job.path(output).write_text("x")
        return job_record.read(f"{output}.json")["portable"]

    (tmp_path / "outside").write_text("x")
    assert record("a", "bits", "outside") == {"job": "bits", "result": "bits"}
    assert record("b", "distribution") == {"job": "distribution", "result": "distribution"}
    assert record("c", "rounding", "a") == {"job": "rounding", "result": "rounding"}
    assert record("d", "bits", "a", "b", "c") == {"job": "bits", "result": "distribution"}
    assert record("e", "rounding", "d") == {"job": "rounding", "result": "distribution"}
