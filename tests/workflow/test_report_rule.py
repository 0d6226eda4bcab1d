"""`snakemake report` puts all that the workflow makes on one page, and makes it anew for what stands there."""

import pytest

pytestmark = [pytest.mark.extended, pytest.mark.xdist_group("workflow")]


def test_the_report_has_every_figure_and_follows_its_captions(project):
    project.make("report")
    text = (project.folder / "results/report.html").read_text()
    assert text.count("<img ") == len(project.config()["figures"])
    assert project.would_run("report") == project.would_run() == {}
    config = project.config()
    config["figures"]["tiny_risk"]["caption"] = "Said later."
    config["experiments"]["tiny"]["resources"] = {"mem_mb": 1999}
    project.configure(config)
    assert project.would_run("report") == {"report": 1}
