"""What the page on extending shows for copying works as it stands there."""

import copy
import importlib
import re

import numpy as np
import pytest
import yaml

from carryover.config import plugins
from carryover.provenance import store
from toy.made_up_runs import dataset
from toy.small_project import ROOT

pytestmark = [pytest.mark.extended, pytest.mark.xdist_group("workflow")]


def blocks(kind, section=1):
    text = (ROOT / "docs/extending.md").read_text().split("\n## ")[section]
    return re.findall(rf"```{kind}\n(.*?)```", text, re.DOTALL)


def test_an_experiment_a_measure_and_a_claim_of_which_only_what_changed_is_remade(fresh):
    experiment, entry, _ = map(yaml.safe_load, blocks("yaml"))
    fresh.configure(experiment | entry)
    for file, text in zip(("measures/nonzero.py", "claims/my_claim.py"), blocks("python")[:2], strict=True):
        (fresh.folder / "scripts/carryover" / file).write_text(text)
    claims = fresh.folder / "scripts/carryover/claims/claims.yaml"
    claims.write_text(f"{claims.read_text()}\n{blocks('yaml')[2]}")
    fresh.make("claims_table")
    claim = store.load(fresh.folder / "results/claims/my_claim.nc")
    assert claim["verdict"].values[0] in ("holds", "fails", "undecided")
    assert int(claim["seeds"].values[0]) == 4
    table = store.load(fresh.folder / "results/claims.nc")
    assert "my_claim/fewer" in table["claim"].values
    assert "Finetuned networks use fewer coefficients" in (fresh.folder / "results/claims.html").read_text()

    # `snakemake claims_table` remakes what has changed, no more: an option of one of two claims, then its criterion.
    entry["claims"]["my_claim_again"] = {"check": "my_claim", **copy.deepcopy(entry["claims"]["my_claim"])}
    fresh.configure(experiment | entry)
    assert fresh.would_run("claims_table") == {"check_claims": 1, "claims_table": 1}
    fresh.make("claims_table")
    assert fresh.would_run("claims_table") == {}
    entry["claims"]["my_claim_again"]["options"]["samples"] = 4
    fresh.configure(experiment | entry)
    assert fresh.would_run("claims_table") == {"check_claims": 1, "claims_table": 1}
    fresh.make("claims_table")
    claims.write_text(claims.read_text().replace("above: 0\n", "above: 1\n", 1))  # of another group
    assert fresh.would_run("claims_table") == {}
    claims.write_text(claims.read_text().replace("above: 0\n", "above: 1\n"))
    assert fresh.would_run("claims_table") == {"check_claims": 2, "claims_table": 1}


def test_a_measure_and_its_figure_of_protocols_that_the_project_does_not_know(tmp_path, monkeypatch):
    (figure,) = blocks("python", 2)
    for kind, text in ("measures", blocks("python")[0]), ("figures", figure):
        (tmp_path / kind).mkdir()
        name = re.search(r"^def (\w+)", text, re.MULTILINE)[1]
        (tmp_path / kind / f"{name}.py").write_text(text)
        package = importlib.import_module(f"carryover.{kind}")
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path / kind)])
    monkeypatch.setattr(plugins, "LIBRARY", tmp_path)
    plugins.forget()
    runs = dataset(
        lambda seed, **point: {"coefficients": np.full((1, 3), 1.0 + seed)},
        {"protocol": ["single_task", "warm_start"], "samples": [4, 8]}, along=("output", "input"),
    )  # fmt: skip
    counts = plugins.call("measures", "nonzero", runs)
    np.testing.assert_array_equal(counts["nonzero"], 3)
    (ax,) = plugins.call("figures", "nonzero_counts", {"counts": counts}).axes
    assert len({curve.get_color() for curve in ax.get_lines()}) == 2
    plugins.forget()
