"""A small project with results and a crate of them."""

import os
from pathlib import Path

import pytest

import crate
from toy import small_run


@pytest.fixture(scope="session")
def exported(tmp_path_factory):
    """A project with results, and `crate/` in it. Nobody changes it."""
    here = tmp_path_factory.mktemp("crate") / "project"
    small_run.start(here)
    before = Path.cwd()
    os.chdir(here)
    try:
        small_run.run()
        crate.main(["results", "--output", "crate"])
    finally:
        os.chdir(before)
    return here
