"""`snakemake report` puts all that the workflow makes on one page, and makes it anew for what stands there."""

import pytest
import yaml

pytestmark = [pytest.mark.extended, pytest.mark.xdist_group("workflow")]


def test_the_report_has_every_figure_and_follows_its_caption_and_paper(project):
    project.make("report")
    text = (project.folder / "results/report.html").read_text()
    assert text.count("<img ") == len(project.config()["figures"])
    assert "artefacts are OK." in text
    assert project.would_run("report") == project.would_run() == {}
    config = project.config()
    config["figures"]["tiny_risk"]["caption"] = "Said later."
    config["experiments"]["tiny"]["resources"] = {"mem_mb": 1999}
    project.configure(config)
    assert project.would_run("report") == {"report": 1}
    project.make("report")
    with (project.folder / "scripts/carryover/templates/report.css").open("a") as template:
        template.write("h1 { color: red }\n")
    assert project.would_run("report") == {"report": 1}
    assert project.would_run() == {}
    project.make("report")
    figure = config["figures"].pop("tiny_risk")
    paper = {"paper": {"name": "Tiny", "title": "Of something tiny"}, "figures": {"tiny_risk": figure}}
    project.configure(config | {"papers": ["tiny"]})
    (project.folder / "config/papers/tiny.yaml").write_text(yaml.safe_dump(paper))
    assert project.would_run("report") == {"report": 1}
    project.make("report")
    assert "Of something tiny" in (project.folder / "results/report.html").read_text()
    paper["paper"]["title"] = "Of something small"
    (project.folder / "config/papers/tiny.yaml").write_text(yaml.safe_dump(paper))
    assert project.would_run("report") == {"report": 1}
