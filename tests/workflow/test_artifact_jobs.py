"""What plug-ins ask of data that lack it is told in one sentence, and so is what they make; our mistakes are traced."""

import argparse
from pathlib import Path

import pandas as pd
import pytest
import xarray as xr

import check_claims
from carryover.claims import exact_limit
from carryover.claims.support import checks
from carryover.errors import UserError
from carryover.labels import attributes
from carryover.provenance import store
from carryover.workflow import plugin_job

LABELS = attributes("made up")
RUNS = xr.Dataset({"risk": ("run", [0.5, 0.25], LABELS)}, {"seed": ("run", [0, 1], LABELS)})
ASKING = {
    "variable": lambda data: data["risk"]["coefficients"],
    "group": lambda data: data["risk"].groupby("coefficients"),
    "column": lambda data: data["published"]["coefficients"],
}


@pytest.fixture
def arguments(tmp_path, monkeypatch):
    """A command line with two roles, whose files are in the working folder."""
    monkeypatch.chdir(tmp_path)
    store.save(RUNS, "risk.nc")
    pd.DataFrame({"bound": [1.0], "seed": [0]}).to_csv("published.csv", index=False)
    return argparse.Namespace(roles=["risk", "published"], data=[Path("risk.nc"), Path("published.csv")])


def plugin(act):
    def make(data, p):
        return act(data)

    make.__module__ = "carryover.figures.toy"
    return make


@pytest.mark.parametrize("act", ASKING.values(), ids=list(ASKING))
def test_what_the_data_lack_is_named_with_the_plugin_and_the_files(act, arguments):
    said = r"^toy needs .*coefficients.*, which is not in the data of: risk.nc, published.csv\.$"
    with pytest.raises(UserError, match=said):
        plugin_job.of_data(plugin(act), object, arguments, None)


def test_what_is_made_must_be_of_its_kind(arguments):
    with pytest.raises(UserError, match=r"^toy must return a Dataset, not NoneType\.$"):
        plugin_job.of_data(plugin(lambda data: None), xr.Dataset, arguments, None)
    assert plugin_job.of_data(plugin(len), int, arguments, None) == 2


@pytest.mark.usefixtures("arguments")
def test_two_claims_of_one_name_are_refused(monkeypatch):
    claims = [("twice", "it is", [1.0], 0.0), ("once", "it is", [1.0], 0.0), ("twice", "it is", [2.0], 0.0)]
    monkeypatch.setattr(exact_limit, "check", lambda data, p: checks.table(claims))
    with pytest.raises(UserError, match="two claims of this group have the name twice: names must differ"):
        check_claims.main(["exact_limit", "--roles", "risk", "--data", "risk.nc", "--output", "x.nc"])
