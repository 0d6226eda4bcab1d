"""The public validator of RO-Crates, without a network, on a crate of ours."""

import json
import shutil

import pytest
from rocrate import vocabs
from rocrate_validator.models import Severity

from crate_validator import RO_CRATE, validate

pytestmark = pytest.mark.slow

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


def test_the_public_validator_sees_what_is_missing(exported, tmp_path):
    shutil.copytree(exported / "crate", tmp_path / "crate")
    path = tmp_path / "crate/ro-crate-metadata.json"
    metadata = json.loads(path.read_text())
    for entity in metadata["@graph"]:
        if entity["@type"] == "CreateAction" and entity["@id"] != "#run":
            del entity["instrument"]
    path.write_text(json.dumps(metadata))
    found = validate(tmp_path / "crate", tmp_path / "cache")
    assert sum("MUST have an instrument" in sentence for sentence in found) == 4


def test_terms_are_those_that_the_library_knows():
    known = vocabs.RO_CRATE["@context"]  # of a later version, in which those of Bioschemas have moved
    ours = {term: iri for term, iri in RO_CRATE.items() if "bioschemas" not in iri}
    assert {term: known[term] for term in ours} == ours
