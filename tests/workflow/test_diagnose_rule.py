"""Diagnoses as part of the workflow: what is made and made again, what records are good for, and mistakes."""

import numpy as np
import pytest

from carryover.audit import project as audits
from toy.small_project import Project

pytestmark = pytest.mark.xdist_group("workflow")

CONFIG = {
    "diagnoses": {
        "mine": {
            "data": {"pretrained": "my nets/before.npz", "finetuned": "my nets/after.npz"},
            "options": {"layers": ["conv1", "fc"], "most": 0.7},
        },
        "other": {"data": {"pretrained": "before.npy", "finetuned": "after.npy", "baseline": "unrelated.npy"}},
    }
}
SUFFIXES = ("html", "nc", "png")
MINE, OTHER = ([f"results/diagnoses/{name}/diagnosis.{suffix}" for suffix in SUFFIXES] for name in CONFIG["diagnoses"])


def activations(seed):
    return np.random.default_rng(seed).standard_normal((60, 4))


@pytest.fixture(scope="module")
def diagnosed(server, tmp_path_factory):
    """A project with two diagnoses and nothing else, after one whole run. Never change it: take a `project`."""
    project = Project.new(tmp_path_factory.mktemp("diagnosed") / "project", server, CONFIG)
    (project.folder / "my nets").mkdir()
    for seed, name in enumerate(("before", "after")):
        layers = {layer: activations(seed) for layer in ("conv1", "fc", "unused")}
        np.savez(project.folder / f"my nets/{name}.npz", **layers)
        np.save(project.folder / f"{name}.npy", activations(seed))
    np.save(project.folder / "unrelated.npy", activations(5))
    project.make()
    return project


@pytest.fixture
def project(diagnosed, tmp_path, monkeypatch):
    made = diagnosed.copy(tmp_path / "moved")
    monkeypatch.chdir(made.folder)
    return made


def findings(project):
    """{path: (verdict, cause)} of an audit, of all that is not OK."""
    found = audits.audit(audits.configuration(["config/config.yaml"]), project.folder).findings
    assert {*MINE, *OTHER} <= found.keys()
    return {path: (one.verdict, one.cause) for path, one in found.items() if one.verdict != "OK"}


def runs_again(project):
    """The diagnoses that a dry run announces; no other job may be among them."""
    jobs = project.would_run()
    said = project.make("--dry-run")
    names = [name for name in CONFIG["diagnoses"] if f"wildcards: diagnosis={name}\n" in said]
    assert jobs == ({"diagnose": len(names)} if names else {})
    return names


def test_every_entry_has_its_files_records_and_log_and_is_made_once(project):
    made = {path.relative_to(project.folder).as_posix() for path in (project.folder / "results").rglob("*.*")}
    both = {*MINE, *OTHER}
    kept = {f"results/logs/diagnoses/{name}/diagnosis.log" for name in CONFIG["diagnoses"]}
    assert made == both | {f"{path}.json" for path in both} | kept
    log = project.folder / "results/logs/diagnoses/mine/diagnosis.log"
    assert log.read_text().startswith("2 layers: ")
    assert runs_again(project) == []
    assert findings(project) == {}


@pytest.mark.parametrize("file", ["after", "unrelated"])
def test_other_activations_diagnose_their_network_again(project, file):
    np.save(project.folder / f"{file}.npy", activations(2))
    assert runs_again(project) == ["other"]
    cause = f"{file}.npy is not the one it was made of"
    assert findings(project) == dict.fromkeys(OTHER, ("STALE-INPUT", cause))


def test_a_missing_file_is_named_before_any_job(project):
    (project.folder / "before.npy").unlink()
    done = project.snakemake("--dry-run")
    said = "carryover: diagnoses.other.data: before.npy is neither a file nor made here.\n"
    assert (done.code, done.text.count(said)) == (1, 1)
    assert "Traceback" not in done.text
