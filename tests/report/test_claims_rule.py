"""The table of claims is asked for, compared with its record and exported where there are claims."""

import pytest

from carryover.config import configuration
from carryover.workflow import startup
from carryover.workflow.points import Wildcards
from carryover.workflow.sweep import Sweep

pytestmark = pytest.mark.slow

FILES = [f"results/claims.{suffix}" for suffix in ("nc", "md", "html")]


@pytest.fixture
def sweep(request):
    def build(claims):
        curves = {"covariance_bound": {}, "relu_penalty": {}}
        config = {"curves": curves, "claims": {name: {"data": {"curve": f"theory/{name}"}} for name in claims}}
        made = Sweep(config, configuration.schema(), request.config.rootpath / "scripts")
        made.check()
        return made

    return build


def test_every_format_is_a_result_of_one_rule_with_its_record(sweep):
    made = sweep(["covariance_bound", "relu_penalty"])
    assert made.claims_table() == [path for file in FILES for path in (file, f"{file}.json")]
    assert [path for rule, wildcards, path in made.jobs() if rule == "claims_table"] == FILES[:1]
    groups = ["results/claims/covariance_bound.nc", "results/claims/relu_penalty.nc"]
    assert made.checked() == groups
    assert startup.words(made, "claims_table", Wildcards()) == groups
    assert set(startup.words(made, "crate", Wildcards())) >= {*FILES, *groups}
    assert made.modules("claims_table", Wildcards()) == ["claims_table"]


def test_without_claims_there_is_no_table(sweep):
    made = sweep([])
    assert made.claims_table() == made.checked() == []
    assert "claims_table" not in {rule for rule, *_ in made.jobs()}


def test_a_group_more_or_less_is_said(sweep):
    groups = sweep(["covariance_bound", "relu_penalty"]).checked()
    record = {"command": ["scripts/claims_table.py", groups[0], "--output", *FILES]}
    made = sweep(["covariance_bound", "relu_penalty"])
    said = "it was made of other groups: 1 added, the first results/claims/relu_penalty.nc"
    assert list(startup.changed_parameters(made, "claims_table", Wildcards(), record)) == [said]
