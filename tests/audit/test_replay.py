"""Recorded jobs run again elsewhere, and what is said of a difference; nothing in the project changes."""

import pytest

from carryover.audit import replay
from workflow import mutations as m

pytestmark = [pytest.mark.extended, pytest.mark.xdist_group("audit")]

CURVE = "results/theory/relu_penalty.nc"


def only(project, *paths):
    """The chain of the project without the records of any other artefact."""
    chain = project.audit().chain
    chain.records = {path: chain.records[path] for path in paths}
    return chain


def again(project, path):
    (done,) = replay.replay(only(project, path), project.folder, 1, 0)
    return done


def test_a_record_of_another_content_differs_and_the_place_is_named(project):
    m.forge(CURVE, m.scaled(1.001))(project)
    done = again(project, CURVE)
    assert (done.verdict, list(done.place), done.kept) == ("DIFFERS", [], False)
    assert done.text.startswith(f"not as recorded: {CURVE}: ")
    m.record(CURVE, lambda record: record["environment"].update(libc="glibc 1.0"))(project)
    m.record(CURVE, lambda record: record["environment"]["versions"].update(numpy="1.0"))(project)
    m.append("scripts/carryover/theory/curves/relu_penalty.py", "\nNEW = 1\n")(project)
    code, numpy, libc = again(project, CURVE).place
    assert code == "the code has changed"
    assert numpy.startswith("numpy 1.0, now ")
    assert libc.startswith("libc glibc 1.0, now ")


def elsewhere(project, path, promise):
    """As if the record had been made on another processor."""

    def change(record):
        record["environment"]["cpu"]["numpy"] = ["another"]
        record["portable"]["job"] = promise

    m.record(path, change)(project)


@pytest.mark.parametrize("promise", ["bits", "rounding", "distribution"])
def test_elsewhere_a_job_must_give_what_it_promises(project, promise):
    """Values off by a rounding, and then by more."""
    elsewhere(project, CURVE, promise)
    assert again(project, CURVE).verdict == "SAME"
    m.forge(CURVE, m.scaled(1 + 1e-12))(project)
    done = again(project, CURVE)
    assert (done.verdict, done.kept) == ("ROUNDED", promise != "bits")
    assert done.text == "same to rounding"
    m.forge(CURVE, m.scaled(1.001))(project)
    done = again(project, CURVE)
    assert (done.verdict, done.kept) == ("DIFFERS", promise == "distribution")
    assert done.promise == promise
    assert len(done.place) == 1


@pytest.mark.parametrize(("change", "sentence"), [
    (lambda r: r["command"].__setitem__(0, "scripts/../evil.py"), "its command runs scripts/../evil.py"),
    (lambda r: r["command"].append("../outside.nc"), "--output and the recorded outputs"),
    (lambda r: r["inputs"].update({"/etc/passwd": r["outputs"][CURVE]}), "lies outside the folder of the project"),
])  # fmt: skip
def test_a_command_that_is_no_job_of_the_project_is_not_run(project, change, sentence):
    m.record(CURVE, change)(project)
    done = again(project, CURVE)
    assert done.verdict == "FAILED"
    assert sentence in done.text
    assert not (project.folder.parent / "outside.nc").exists()
