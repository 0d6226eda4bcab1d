"""The workflow runs from another directory, and as a module of another workflow."""

import json
import zipfile

import pytest
import yaml

from toy.small_project import Project

pytestmark = [pytest.mark.extended, pytest.mark.xdist_group("workflow")]
FIGURE = "results/figures/relu_penalty.png"


def config(points):
    curve = {"relu_penalty": {"points": points}}
    return {"curves": curve, "figures": {"relu_penalty": {"data": {"curve": "theory/relu_penalty"}}}}


def snakemake(folder, *words):
    done = Project(folder, None).run_python("-m", "snakemake", "--cores", "1", *map(str, words), timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def home(tmp_path):
    """The workflow in a folder of its own, with a short configuration."""
    return Project.new(tmp_path / "the workflow", None, config(11)).folder


def keys(file):
    command = json.loads(file.with_name(f"{file.name}.json").read_text())["command"]
    return command[command.index("--key") + 1]


def test_from_another_directory_with_the_same_keys_and_after_moving_both(home, tmp_path):
    snakemake(home, "--", FIGURE)
    work = tmp_path / "work"
    work.mkdir()
    snakemake(tmp_path, "-s", home / "Snakefile", "-d", work, "--", FIGURE)
    data = "results/theory/relu_penalty.nc"
    assert (work / data).read_bytes() == (home / data).read_bytes()
    assert keys(work / FIGURE) == keys(home / FIGURE)
    home, work = home.rename(tmp_path / "moved"), work.rename(tmp_path / "moved work")
    assert "Nothing to be done" in snakemake(tmp_path, "-s", home / "Snakefile", "-d", work, "-n", "--", FIGURE)
    (work / "config").mkdir()
    (work / "config/config.yaml").write_text(yaml.safe_dump(config(12)))  # its own, where it has one
    assert "curve" in snakemake(tmp_path, "-s", home / "Snakefile", "-d", work, "-n", "--", FIGURE)


def test_a_deployed_workflow_makes_everything_by_default(home, tmp_path):
    """As snakedeploy writes it into a folder of one's own."""
    (tmp_path / "Snakefile").write_text(
        f"module carryover:\n    snakefile: {str(home / 'workflow/Snakefile')!r}\n    config: {config(11)}\n"
        "use rule * from carryover\n"
    )
    assert "curve" in snakemake(tmp_path, "-n")


def test_two_configurations_as_modules_leave_the_outer_workflow_alone(home, tmp_path):
    outer = "shell.prefix('set -e; MINE=1; ')\n"
    for name, points, file in (("first", 11, "Snakefile"), ("second", 13, "workflow/Snakefile")):
        where = f"    snakefile: {str(home / file)!r}\n    prefix: {name!r}\n    config: {config(points)}\n"
        outer += f"module {name}:\n{where}use rule * from {name} as {name}_*\n"
    made = f"    input: 'first/{FIGURE}', 'second/{FIGURE}'\n    output: 'mine.txt'\n    default_target: True\n"
    outer += f"rule mine:\n{made}    shell: 'echo $MINE > {{output}}'\n"
    (tmp_path / "Snakefile").write_text(outer)
    snakemake(tmp_path)
    assert (tmp_path / "mine.txt").read_text() == "1\n"
    assert keys(tmp_path / "first" / FIGURE) != keys(tmp_path / "second" / FIGURE)
    assert "Nothing to be done" in snakemake(tmp_path, "-n")
    snakemake(tmp_path, "--", "first_audit")  # of what stands within the prefix
    assert (tmp_path / "first/results/audit.html").is_file()
    assert not (tmp_path / "results").exists()
    snakemake(tmp_path, "--", "first/results/crate.zip")
    with zipfile.ZipFile(tmp_path / "first/results/crate.zip") as crate:
        assert crate.read("Snakefile") == (home / "Snakefile").read_bytes()
