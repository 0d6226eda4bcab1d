"""What the page on extending shows for copying works as it stands there."""

import copy
import re

import pytest
import yaml

from carryover.provenance import store
from toy.small_project import ROOT

pytestmark = [pytest.mark.extended, pytest.mark.xdist_group("workflow")]


def blocks(kind):
    text = (ROOT / "docs/extending.md").read_text().split("\n## ")[1]
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
