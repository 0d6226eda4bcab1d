"""The small project in conda environments: unmodified files, a real solver, no public channel."""

import json
import re

import pytest

from toy.small_project import DESCENT, ROOT

pytestmark = [pytest.mark.extended, pytest.mark.xdist_group("conda")]


CURVE = "results/theory/relu_penalty.nc"


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


@pytest.mark.parametrize(
    ("entry", "impossible", "cause"),
    [("numpy=2.4", "numpy>=1000", "No candidates were found for numpy >=1000"),
     ("numpy=2.4", "nosuchpackage", "No candidates were found for nosuchpackage"),
     ("python=3.11", "python=3.99", "would require\n   └─ python 3.11.*, for which no candidates")],
)  # fmt: skip
def test_an_environment_without_a_solution_stops_the_run_and_is_named(entry, impossible, cause, project):
    project.replace("envs/analysis.yaml", f"- {entry}", f"- {impossible}")
    done = project.snakemake(CURVE)
    assert done.code != 0
    assert re.search(r"Could not create conda environment from \S+/envs/analysis\.yaml", done.text)
    assert cause in done.text.partition("Output:")[2]
    assert not (project.folder / CURVE).exists()


def test_what_an_environment_lacks_its_jobs_do_not_find_elsewhere(project):
    project.replace("envs/analysis.yaml", "  - xarray=2026.9\n", "")
    assert project.snakemake(CURVE).code != 0
    assert "No module named 'xarray'" in (project.folder / "results/logs/theory/relu_penalty.log").read_text()


def test_the_build_for_a_gpu_is_chosen_where_cuda_is_said_to_be(project, side):
    options = ["--conda-create-envs-only", "--conda-prefix", str(side / "gpu")]
    project.make(*options, DESCENT, CONDA_OVERRIDE_CUDA="12.8")
    (package,) = side.glob("gpu/*/conda-meta/pytorch-*.json")
    assert json.loads(package.read_text())["build"] == "cuda"
