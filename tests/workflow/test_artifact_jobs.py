"""What plug-ins ask of data that lack it is told in one sentence, and so is what they make; our mistakes are traced."""

import argparse
from pathlib import Path

import pandas as pd
import pytest
import xarray as xr

import check_claims
import curve
import figure
import table
from carryover.analysis import intervals
from carryover.claims import exact_limit
from carryover.curves import relu_penalty
from carryover.errors import UserError
from carryover.labels import attributes
from carryover.provenance import store
from carryover.workflow import artifact_jobs, asked_in_vain
from figure import plt

LABELS = attributes("made up")
RUNS = xr.Dataset({"risk": ("run", [0.5, 0.25], LABELS)}, {"seed": ("run", [0, 1], LABELS)})
ASKING = {
    "variable": lambda data: data["risk"]["coefficients"],
    "variables": lambda data: data["risk"][["risk", "coefficients"]],
    "coordinate": lambda data: data["risk"]["risk"]["coefficients"],
    "group": lambda data: data["risk"].groupby("coefficients"),
    "place": lambda data: data["risk"].sel(coefficients=1),
    "column": lambda data: data["published"]["coefficients"],
    "columns": lambda data: data["published"][["bound", "coefficients"]],
    "rows": lambda data: data["published"].groupby("coefficients"),
    "duplicates": lambda data: data["published"].duplicated(["bound", "coefficients"]),
    "gaps": lambda data: data["published"].dropna(subset=["coefficients"]),
    "pivot": lambda data: data["published"].pivot(index="bound", columns="coefficients"),
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

    make.__module__ = "carryover.plotting.toy"
    return make


@pytest.mark.parametrize("act", ASKING.values(), ids=list(ASKING))
def test_what_the_data_lack_is_named_with_the_plugin_and_the_roles(act, arguments):
    with pytest.raises(UserError) as ended:
        artifact_jobs.made_of_roles(plugin(act), object, arguments, None)
    files = ", ".join(f"{role} ({file})" for role, file in zip(arguments.roles, arguments.data, strict=True))
    assert str(ended.value) == f"toy needs coefficients, which is not in the data of: {files}."


def test_roles_that_have_it_are_not_blamed(arguments):
    with pytest.raises(UserError, match=r"^toy needs bound, which is not in the data of: risk \(risk.nc\)\.$"):
        artifact_jobs.made_of_roles(plugin(lambda data: data["risk"]["bound"]), object, arguments, None)


@pytest.mark.parametrize("ask", [
    lambda data, p: data["coefficients"], lambda data, p: data[["risk", "coefficients"]],
    lambda data, p: data.sizes["coefficients"],
])  # fmt: skip
def test_what_a_shard_lacks_is_named_with_the_measure(ask):
    told = r"^toy needs coefficients, which is not in shard\.nc\.$"
    with pytest.raises(UserError, match=told), asked_in_vain.lacking("toy", Path("shard.nc"), RUNS):
        ask(RUNS, None)


def test_mistakes_in_a_measure_are_traced():
    with pytest.raises(KeyError), asked_in_vain.lacking("toy", Path("shard.nc"), RUNS):
        {}["coefficients"]


OWN = {
    "a mapping": lambda data: {}["coefficients"],
    "a number": lambda data: data["published"][7],
    "what all data have": lambda data: data["risk"].drop_vars("seed")["seed"],
}


@pytest.mark.parametrize("act", OWN.values(), ids=list(OWN))
def test_our_own_mistakes_keep_their_trace(act, arguments):
    with pytest.raises(KeyError):
        artifact_jobs.made_of_roles(plugin(act), object, arguments, None)


def test_what_is_made_must_be_of_its_kind(arguments):
    with pytest.raises(UserError, match=r"^toy must return a Dataset, not NoneType\.$"):
        artifact_jobs.made_of_roles(plugin(lambda data: None), xr.Dataset, arguments, None)
    assert artifact_jobs.made_of_roles(plugin(len), int, arguments, None) == 2


STYLE = ["--style", str(Path(__file__).parents[2] / "config" / "figures.mplstyle")]
SCRIPTS = {
    "check_claims": (check_claims, ["exact_limit"], "coefficients", "x.nc"),
    "figure": (figure, ["solver_agreement", *STYLE], "coefficients", "x.png"),
    "table": (table, ["bound_correlations"], "bounds", "x.md"),
}


@pytest.mark.usefixtures("arguments")
@pytest.mark.parametrize(("script", "words", "role", "output"), SCRIPTS.values(), ids=list(SCRIPTS))
def test_every_script_says_so_and_leaves_no_file(script, words, role, output):
    with plt.rc_context(), pytest.raises(UserError, match=rf"^{words[0]} needs \w+, .* {role} \(risk.nc\)\.$"):
        script.main([*words, "--roles", role, "--data", "risk.nc", "--output", output])
    assert not Path(output).exists()


def test_a_curve_must_be_a_dataset(tmp_path, monkeypatch):
    monkeypatch.setattr(relu_penalty, "compute", lambda p: None)
    with pytest.raises(UserError, match="must return a Dataset, not NoneType"):
        curve.main(["relu_penalty", "--output", str(tmp_path / "x.nc")])


@pytest.mark.usefixtures("arguments")
def test_two_claims_of_one_name_are_refused(monkeypatch):
    claims = [("twice", "it is", [1.0], 0.0), ("once", "it is", [1.0], 0.0), ("twice", "it is", [2.0], 0.0)]
    monkeypatch.setattr(exact_limit, "check", lambda data, p: intervals.table(claims))
    with pytest.raises(UserError, match="two claims of this group have the name twice: names must differ"):
        check_claims.main(["exact_limit", "--roles", "risk", "--data", "risk.nc", "--output", "x.nc"])
