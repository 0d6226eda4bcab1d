"""The small project in conda environments: unmodified files, a real solver, no public channel."""

import json
import re

import pytest

from toy.small_project import ROOT

pytestmark = [pytest.mark.extended, pytest.mark.xdist_group("conda")]


def records(project):
    """Of all results: each lies beside what it is of."""
    paths = project.folder.glob("results/**/*.json")
    return [json.loads(path.read_text()) for path in paths if path.with_suffix("").is_file()]


def test_in_environments_the_results_are_those_of_a_run_without(project, local):
    project.make("all", "report", "crate")
    assert "results are OK" in project.make("audit")
    assert project.results() == local.results()
    assert not project.would_run("all", "report", "crate")

    lock = "\n".join((ROOT / "envs" / name).read_text().lower() for name in ("lock.txt", "torch.txt"))
    locked = dict(re.findall(r"^([\w.-]+)==(\S+)", lock.replace("_", "-"), re.MULTILINE))
    seen = set()
    for record in records(project):
        assert record["environment"]["conda"]
        versions = {name: version.partition("+")[0] for name, version in record["environment"]["versions"].items()}
        assert versions == {name: locked[name] for name in versions}
        seen |= versions.keys()
    assert {"numpy", "torch", "scipy", "pandas", "matplotlib", "rocrate"} <= seen
    assert not any(record["environment"]["conda"] for record in records(local))
