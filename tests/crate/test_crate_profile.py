"""The public validator of RO-Crates, without a network, on a crate of ours."""

import pytest
from rocrate_validator.models import Severity

from crate_validator import validate

pytestmark = pytest.mark.extended


# What the profile recommends and nobody has recorded: who ran a job, and where the project stands on the web.
UNTOLD = (
    "The Action SHOULD have an agent that is a Person or Organization",
    "The Application SHOULD have a url",
    "The Main Workflow SHOULD comply with Bioschemas ComputationalWorkflow profile version 1.0 or later",
    "The SoftwareApplication id SHOULD be an absolute URI",
    "The `publisher` property of a `Root Data Entity` SHOULD be an `Organization`",
    "The organization SHOULD have a URL.",
)


def test_the_public_validator_finds_nothing_required_and_little_recommended(exported, tmp_path):
    found = validate(exported / "crate", tmp_path / "cache", Severity.RECOMMENDED)
    assert {sentence.partition(": ")[2] for sentence in found} <= set(UNTOLD)
