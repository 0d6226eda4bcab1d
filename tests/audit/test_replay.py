"""Recorded jobs run again elsewhere, and what is said of a difference; nothing in the project changes."""

import dataclasses

import pytest

from carryover.audit import replay
from workflow import mutations as m

pytestmark = [pytest.mark.extended, pytest.mark.xdist_group("audit")]

CURVE = "results/theory/relu_penalty.nc"


def again(project, path):
    """The replay of the job of one result alone."""
    audit = project.audit()
    audit = dataclasses.replace(audit, records={path: audit.records[path]})
    (done,) = replay.replay(audit, project.folder, 1, 0)
    return done


def test_a_record_of_another_content_differs_and_the_place_is_named(project):
    m.forge(CURVE, m.scaled(1.001))(project)
    done = again(project, CURVE)
    assert (done.verdict, done.fails) == ("DIFFERS", True)
    assert done.cause.startswith(f"[rounding] other values: {CURVE}: ")
    assert "not as recorded" not in done.cause
    m.record(CURVE, lambda record: record["environment"]["versions"].update(numpy="1.0"))(project)
    m.append("scripts/carryover/theory/curves/relu_penalty.py", "\nabs(1)\n")(project)
    assert "; not as recorded: code, versions numpy 1.0 → " in again(project, CURVE).cause


def test_a_figure_is_drawn_again_with_the_style_of_the_project(project):
    done = again(project, m.FIGURE[0])
    assert (done.verdict, done.cause) == ("SAME", "[rounding] same bytes")


def elsewhere(project, path, promise):
    """As if the record had been made on another processor."""

    def change(record):
        record["environment"]["cpu"]["numpy"] = ["another"]
        record["portable"]["job"] = promise

    m.record(path, change)(project)


@pytest.mark.parametrize("promise", ["bits", "rounding", "distribution"])
def test_elsewhere_a_job_must_give_what_it_promises(project, promise):
    """Half of the digits must agree: to 2^−11.5, which is 3.5e-4."""
    elsewhere(project, CURVE, promise)
    assert again(project, CURVE).verdict == "SAME"
    m.forge(CURVE, m.scaled(1 + 3e-4))(project)
    done = again(project, CURVE)
    assert (done.verdict, done.fails) == ("ROUNDED", promise == "bits")
    assert done.cause.startswith(f"[{promise}] same to rounding; not as recorded: cpu numpy another → ")
    m.forge(CURVE, m.scaled(1 + 1e-4))(project)
    done = again(project, CURVE)
    assert (done.verdict, done.fails) == ("DIFFERS", promise != "distribution")


@pytest.mark.parametrize(("change", "sentence"), [
    (lambda r: r["command"].__setitem__(0, "scripts/../evil.py"), "its command runs scripts/../evil.py"),
    (lambda r: r["command"].append("../outside.nc"), "--output and the recorded outputs"),
    (lambda r: r["inputs"].update({"/etc/passwd": r["outputs"][CURVE]}), "lies outside the folder of the project"),
])  # fmt: skip
def test_a_command_that_is_no_job_of_the_project_is_not_run(project, change, sentence):
    m.record(CURVE, change)(project)
    done = again(project, CURVE)
    assert done.verdict == "FAILED"
    assert sentence in done.cause
    assert not (project.folder.parent / "outside.nc").exists()
