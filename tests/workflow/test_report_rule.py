"""`snakemake report` puts all that the workflow makes on one page; `snakemake --report` makes a page of the jobs."""

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


def test_snakemakes_own_report_has_the_figures_with_captions_that_are_no_markup(project):
    config = project.config()
    config["figures"]["tiny_risk"]["caption"] = ".. raw:: html\n\n  <script>caption</script> *a|b_ `c"
    project.configure(config)
    project.make("--report", "jobs.html")
    text = (project.folder / "jobs.html").read_text()
    assert '"caption": "<p>.. raw:: html &lt;script&gt;caption&lt;/script&gt; *a|b_ `c</p>' in text
    assert "tiny_risk.png" in text
