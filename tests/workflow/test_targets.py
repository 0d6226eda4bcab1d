"""The targets `first`, `report` and `crate`, and Snakemake's own report."""

import shutil
import zipfile

import pytest

from toy.small_project import TINY

pytestmark = [pytest.mark.extended, pytest.mark.xdist_group("workflow")]

ABOUT = {"name": "Tiny", "title": "On small things"}
PAPERS = {"tiny": {**ABOUT, "first": "relu_penalty"}, "others": ABOUT}
FIRST = {"curve": 1, "figure": 1}
FIGURE = "results/figures/relu_penalty.png"


def test_first_makes_the_papers_first_figures_and_nothing_is_made_twice(fresh):
    fresh.configure(TINY | {"papers": PAPERS, "pdf": False})
    everything = fresh.would_run()
    assert fresh.would_run("first") == FIRST | {"first": 1}
    assert f"One figure of each paper:\n{FIGURE}\n" in fresh.make("first")
    assert (fresh.folder / FIGURE).is_file()
    assert not (fresh.folder / FIGURE).with_suffix(".pdf").exists()
    left = fresh.would_run()
    assert {rule: jobs - left.get(rule, 0) for rule, jobs in everything.items() if jobs != left.get(rule)} == FIRST


def test_crate_and_report_have_every_result_and_the_report_is_made_again_for_a_new_caption(project):
    results = set(project.results())
    project.make("crate", "report")
    with zipfile.ZipFile(project.folder / "results/crate.zip") as archive:
        assert results | {f"{path}.json" for path in results} <= set(archive.namelist())
    text = (project.folder / "results/report.html").read_text()
    assert text.count("<img ") == len(project.config()["figures"])
    assert project.would_run("crate", "report") == project.would_run() == {}
    config = project.config()
    config["figures"]["tiny_risk"]["caption"] = "Another caption."
    project.configure(config)
    assert project.would_run("report") == {"report": 1}


def test_snakemakes_own_report_escapes_captions(project):
    config = project.config()
    config["figures"]["tiny_risk"]["caption"] = ".. raw:: html\n\n  <script>caption</script> *a|b_ `c"
    project.configure(config)
    project.make("--report", "jobs.html")
    text = (project.folder / "jobs.html").read_text()
    assert '"caption": "<p>.. raw:: html &lt;script&gt;caption&lt;/script&gt; *a|b_ `c</p>' in text
    assert "tiny_risk.png" in text


def test_results_without_snakemakes_metadata_are_compared_with_their_records(project):
    shutil.rmtree(project.folder / ".snakemake")
    assert "carryover:" not in project.make("--dry-run")
    config = project.config()
    config["experiments"]["tiny"]["finetune"]["grids"]["simulated"]["learning_rate"] = 0.03
    config["experiments"]["tiny"]["finetune"]["grids"]["solved"]["overlap"] = [0.0, 0.9]
    project.replace("scripts/carryover/measures/recorded.py", "return data[[*names,", "return 1.0 * data[[*names,")
    project.configure(config)
    *causes, advice = [line for line in project.make("--dry-run").splitlines() if line.startswith("carryover:")]
    assert sorted(causes) == [
        "carryover: collect, 1 job(s): code: scripts/carryover/measures/recorded.py changed.",
        "carryover: finetune, 1 job(s): configuration: learning_rate 0.02 → 0.03.",
        "carryover: finetune, 1 job(s): configuration: overlap 1.0 → 0.9.",
    ]
    assert advice.endswith("without its metadata; to make them anew: snakemake -R collect finetune")
