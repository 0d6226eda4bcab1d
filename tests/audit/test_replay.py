"""Recorded jobs run again elsewhere, and what is said of a difference; nothing in the project changes."""

from pathlib import Path

import pytest

from carryover.audit import replay
from toy.small_project import EXACT
from workflow import file_changes
from workflow import mutations as m
from workflow.mutation_rows import SPARSITIES

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("audit")]

CURVE, PNG = "results/theory/relu_penalty.nc", "results/figures/relu_penalty.png"


def only(project, *paths):
    """The chain of the project without the records of any other artefact."""
    chain = project.audit().chain
    chain.records = {path: chain.records[path] for path in paths}
    return chain


def again(project, path):
    (done,) = replay.replay(only(project, path), project.folder, 1, 0)
    return done


def stamps(project):
    files = (path for path in project.folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in files}


@pytest.mark.parametrize("threads", [None, "2"])
def test_the_same_comes_out_as_in_the_same_place_and_the_project_stays(threads, project, monkeypatch):
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, threads) if threads else monkeypatch.delenv(name, raising=False)
    before = stamps(project)
    done = list(replay.replay(only(project, EXACT, PNG), project.folder, 5, 0))
    first = min(project.audit().chain.records[PNG]["outputs"])
    assert [(one.verdict, one.text, list(one.place)) for one in done] == [("SAME", "same bytes", [])] * 2
    assert {one.path for one in done} == {EXACT, first}
    assert stamps(project) == before


def test_a_record_of_another_content_differs_and_the_place_is_named(project):
    m.forge(CURVE, file_changes.scaled(1.001))(project)
    done = again(project, CURVE)
    assert (done.verdict, list(done.place), done.kept) == ("DIFFERS", [], False)
    assert done.text.startswith(f"not as recorded: {CURVE}: ")
    m.record(CURVE, lambda record: record["environment"].update(libc="glibc 1.0"))(project)
    m.record(CURVE, lambda record: record["environment"]["versions"].update(numpy="1.0"))(project)
    m.append("scripts/carryover/curves/relu_penalty.py", "\nNEW = 1\n")(project)
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
    m.forge(CURVE, file_changes.scaled(1 + 1e-12))(project)
    done = again(project, CURVE)
    assert (done.verdict, done.kept) == ("ROUNDED", promise != "bits")
    assert done.text.startswith("same to rounding: at most ")
    m.forge(CURVE, file_changes.scaled(1.001))(project)
    done = again(project, CURVE)
    assert (done.verdict, done.kept) == ("DIFFERS", promise == "distribution")
    assert " differs by 1.0e-03 of its largest number" in done.text
    assert done.promise == promise
    assert len(done.place) == 1


def test_pixels_cannot_be_compared_to_rounding(project):
    for place, kept in ((lambda record: None, False), (lambda r: r["environment"].update(libc="glibc 1.0"), True)):
        m.record(PNG, place)(project)
        m.record(PNG, lambda r: [found.update(sha256="0" * 64, pixels="0") for found in r["outputs"].values()])(project)
        done = again(project, PNG)
        assert (done.verdict, done.kept) == ("DIFFERS", kept)
        assert done.text.startswith("not as recorded: results/figures/relu_penalty.p")


def test_an_input_that_is_no_longer_the_recorded_one_is_named(project):
    m.on(EXACT, file_changes.one_value)(project)
    done = again(project, SPARSITIES[0])
    assert list(done.place) == [f"input {EXACT} is not the recorded one"]


def test_other_bytes_of_the_same_content_are_the_same(project):
    def other_bytes(record):
        for found in record["outputs"].values():
            found["sha256"] = "0" * 64

    m.record(CURVE, other_bytes)(project)
    assert (again(project, CURVE).verdict, again(project, CURVE).text) == ("SAME", "same content, other bytes")


def test_what_is_not_run(project):
    outside = project.folder.parent / "outside.nc"
    cases = [
        (lambda r: r["command"].__setitem__(0, "scripts/../evil.py"), "its command runs scripts/../evil.py"),
        (lambda r: r["command"].append(str(outside)), "--output and the recorded outputs"),
        (lambda r: r["outputs"].update({str(outside): r["outputs"][CURVE]}), "--output and the recorded outputs"),
        (lambda r: r["command"].__setitem__(-1, str(outside.parent)), "--output and the recorded outputs"),
        (lambda r: r["command"].pop(), "--output and the recorded outputs"),
        (lambda r: r["inputs"].update({str(outside): r["outputs"][CURVE]}), "lies outside the folder of the project"),
        (lambda r: r["command"].insert(2, "--nonsense"), "error: unrecognized arguments: --nonsense"),
    ]
    kept = Path(f"{CURVE}.json").read_bytes()
    for change, sentence in cases:
        Path(f"{CURVE}.json").write_bytes(kept)
        m.record(CURVE, change)(project)
        done = again(project, CURVE)
        assert done.verdict == "FAILED"
        assert sentence in done.text
    assert not outside.exists()


def test_jobs_are_drawn_by_the_seed(project, monkeypatch):
    monkeypatch.setattr(replay, "_again", lambda path, *told: path)
    chain = project.audit().chain
    drawn = {seed: list(replay.replay(chain, project.folder, 3, seed)) for seed in range(20)}
    assert drawn[0] == list(replay.replay(chain, project.folder, 3, 0))
    assert all(len(set(paths)) == 3 for paths in drawn.values())
    every = set(replay.replay(chain, project.folder, 1000, 0))
    assert set().union(*drawn.values()) == every
    assert len(every) == 10  # the formats of a figure are one job
    with pytest.raises(ValueError, match="count 0: it must be a whole number ≥ 1"):
        list(replay.replay(chain, project.folder, 0, 0))
