"""Diagnoses as part of the workflow: what is made and made again, and a missing file."""

import numpy as np
import pytest

from carryover.audit import project as audits
from toy.small_project import Project

pytestmark = [pytest.mark.extended, pytest.mark.xdist_group("workflow")]

CONFIG = {
    "diagnoses": {
        "mine": {
            "data": {"pretrained": "my nets/before.npz", "finetuned": "my nets/after.npz"},
            "options": {"layers": ["conv1", "fc"], "most": 0.7},
        },
        "other": {"data": {"pretrained": "before.npy", "finetuned": "after.npy"}},
    }
}
MINE, OTHER = (
    [f"results/diagnoses/{name}/diagnosis.{suffix}" for suffix in ("html", "nc", "png")] for name in CONFIG["diagnoses"]
)


def activations(seed):
    return np.random.default_rng(seed).standard_normal((60, 4))


def test_a_network_is_diagnosed_once_and_again_after_a_change(server, tmp_path, monkeypatch):
    project = Project.new(tmp_path / "project", server, CONFIG)
    monkeypatch.chdir(project.folder)
    (project.folder / "my nets").mkdir()
    for seed, name in enumerate(("before", "after")):
        np.savez(project.folder / f"my nets/{name}.npz", **dict.fromkeys(("conv1", "fc", "unused"), activations(seed)))
        np.save(project.folder / f"{name}.npy", activations(seed))
    project.make()
    made = {path.relative_to(project.folder).as_posix() for path in (project.folder / "results/diagnoses").rglob("*.*")}
    assert made == {*MINE, *OTHER, *(f"{path}.json" for path in (*MINE, *OTHER))}
    assert project.would_run() == {}

    np.save(project.folder / "after.npy", activations(2))
    assert project.would_run() == {"diagnose": 1}
    found = audits.audit(audits.configuration(["config/config.yaml"]), project.folder).findings
    assert {path for path, one in found.items() if one.cause.startswith("input: ")} == set(OTHER)

    (project.folder / "before.npy").unlink()
    done = project.snakemake("--dry-run")
    said = "carryover: diagnoses.other.data: before.npy is neither a file nor made here"
    assert (done.code, done.text.count(said)) == (1, 1)
