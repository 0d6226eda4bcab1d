"""A report is a result like any other to an audit, but no part of the root digest that it shows."""

import sys

import pytest

import report

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("audit")]
PAGE, FIGURE = "results/report.html", "results/figures/tiny_risk.svg"


def test_a_report_is_judged_and_does_not_change_the_root(project, monkeypatch):
    root = project.audit().root
    words = ["results", "--configfile", "config/config.yaml", "--output", PAGE]
    monkeypatch.setattr(sys, "argv", ["scripts/report.py", *words])
    monkeypatch.setattr(report, "ROOT", project.folder)
    report.main(words)
    found = project.audit()
    assert (project.verdicts(), found.findings[PAGE].rule, found.root) == ({}, "report", root)
    assert root in (project.folder / PAGE).read_text()
    assert PAGE not in found.chain.lasting
    with (project.folder / FIGURE).open("a") as figure:
        figure.write("<!-- touched up -->")
    assert project.verdicts() == {FIGURE: "ALTERED", PAGE: "DOWNSTREAM-OF"}
