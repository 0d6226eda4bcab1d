"""The results of a toy run, and a page of them."""

import os
from pathlib import Path

import pytest

from carryover.report import page
from toy import small_results


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """The folder of a toy run, with its page. Nobody changes it."""
    here, before = tmp_path_factory.mktemp("report"), Path.cwd()
    os.chdir(here)
    try:
        small_results.run()
        Path("results/report.html").write_text(page.page(small_results.gathered(), "a note"), encoding="utf-8")
    finally:
        os.chdir(before)
    return here


@pytest.fixture
def results(finished, monkeypatch):
    """The same folder, as the working folder."""
    monkeypatch.chdir(finished)
    return finished
