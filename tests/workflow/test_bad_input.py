"""Bad input ends with one clear sentence and an exit code, nothing half-written and no stack trace."""

import os
import shutil

import pytest
import xarray as xr

from toy.small_project import DESCENT, EXACT, TINY, Project

pytestmark = pytest.mark.xdist_group("workflow")

FINETUNE = ("experiments", "tiny", "finetune")
SOLVED, SIMULATED = (*FINETUNE, "grids", "solved"), (*FINETUNE, "grids", "simulated")
REMOVE = object()


@pytest.fixture(scope="module")
def unmade(server, tmp_path_factory):
    """A project of which nothing is made, for configurations that stop before any job."""
    return Project.new(tmp_path_factory.mktemp("unmade") / "project", server)


def changed(*path_and_value):
    """The small configuration with one value changed, added or removed."""
    *path, key, value = path_and_value

    def rebuilt(node, path):
        if path:
            return {**node, path[0]: rebuilt(node.get(path[0], {}), path[1:])}
        rest = {k: v for k, v in node.items() if k != key}
        return rest if value is REMOVE else {**rest, key: value}

    return rebuilt(TINY, path)


REFUSED = {
    "unknown key": (
        (*FINETUNE, "sampels", 3),
        "configuration: experiments.tiny.finetune: unknown key sampels; allowed here: loss, ",
    ),
    "wrong type": (
        ("experiments", "tiny", "seeds", "three"),
        "configuration: experiments.tiny.seeds: 'three' is not allowed; it must be a whole number ≥ 1.",
    ),
    "out of range": (
        (*FINETUNE, "overlap", [0.0, 1.5]),
        "configuration: experiments.tiny.finetune.overlap: [0.0, 1.5] is not allowed; it must be a number ≥ 0 and ",
    ),
    "more seeds than there are jobs for": (
        ("experiments", "tiny", "seeds", 10**8),
        "experiments.tiny: 100000000 seeds in blocks of 2 make 150000000 jobs of training, of which at most 5000 are ",
    ),
    "a block that no command line holds": (
        ("experiments", "tiny", "block", 10**8),
        "configuration: experiments.tiny.block: 100000000 is not allowed; it must be a whole number ≥ 1 and ≤ 1000.",
    ),
    "a whole number that no array can have": (
        ("experiments", "tiny", "task", "dimension", 10**26),
        f"configuration: experiments.tiny.task.dimension: {10**26} is too large to compute with: ",
    ),
    "number that YAML reads as text": (
        (*SIMULATED, "learning_rate", "1e-3"),
        "configuration: experiments.tiny.finetune.grids.simulated.learning_rate: '1e-3' is not allowed; it must be a "
        "number > 0. (YAML reads 1e-3 as text: write 1.0e-3.)",
    ),
    "unknown family": (
        ("experiments", "tiny", "family", "diagnal"),
        "configuration: experiments.tiny.family: 'diagnal' is not allowed; it must be one of convnet, deep_linear, ",
    ),
    "unknown measure": (
        ("experiments", "tiny", "measures", "riks", {}),
        "configuration: experiments.tiny.measures: unknown key riks; allowed here: ",
    ),
    "a measure of other families": (
        ("experiments", "tiny", "measures", "clusters", {}),
        "experiments.tiny.measures.clusters is of networks of relu, not of diagonal.",
    ),
    "papers that are left open": (
        ("papers", None),
        "configuration: papers: None is not allowed; it must be a list or a section of keys and values.",
    ),
    "two grids that ask for one job": (
        (*FINETUNE, "grids", "again", {"protocol": "single_task", "solver": "descent"}),
        "experiments.tiny.finetune: two grids ask for protocol~single_task_solver~descent; ",
    ),
    "a key that nothing reads": (
        (*SOLVED, "learning_rate", 0.1),
        "experiments.tiny.finetune.grids.solved.learning_rate is read only where solver is descent, which no job ",
    ),
    "a results folder that a shell would run": (
        ("pathvars", "results", "x;touch PWNED;"),
        "configuration: pathvars.results: 'x;touch PWNED;' is not allowed; it must be a folder's path of at most 250 ",
    ),
    "nothing to start from": (
        ("experiments", "tiny", "pretrain", REMOVE),
        "experiments.tiny: finetune with protocol finetuning, solver exact starts from pretraining: add `pretrain:`.",
    ),
    "a figure of data that nobody makes": (
        ("figures", "tiny_risk", "data", {"risk": "tiny/norms"}),
        "figures.tiny_risk.data: results/tiny/norms.nc is neither a file nor made here; known are tiny/risk, ",
    ),
}


def refusal(project, *arguments):
    """The one line that is printed beside Snakemake's notes on where its settings come from."""
    done = project.snakemake("--dry-run", *arguments)
    assert done.code == 1
    lines = [line for line in done.text.splitlines() if line and not line.startswith(("Using workflow", "Config file"))]
    assert len(lines) == 1, done.text
    assert lines[0].startswith("carryover: ")
    assert lines[0].endswith((".", ".)"))
    return lines[0].removeprefix("carryover: ")


def test_what_stands_twice_in_an_overlay_is_refused_with_its_line(unmade):
    unmade.configure(TINY)
    (unmade.folder / "over.yaml").write_text("experiments:\n  tiny: {seeds: 3}\n  tiny: {seeds: 4}\n")
    said = "over.yaml: line 3: the key tiny stands in this section already, in line 2."
    assert refusal(unmade, "--configfile", "over.yaml") == said


PAPER = "paper: {name: A, title: A paper}\n"
IN_PAPERS = {
    "unknown key": (
        PAPER + "claims: {a: {check: exact_limit, data: {coefficients: b.nc}, optoins: {}}}",
        "config/papers/a.yaml: claims.a: unknown key optoins; allowed here: ",
    ),
    "unknown section": (
        PAPER + "experimets: {}",
        "config/papers/a.yaml: unknown key experimets; allowed here: paper, ",
    ),
    "one experiment of two papers": (
        PAPER + "experiments: {relu_magnitude: {}}",
        "config/papers/a.yaml and config/papers/implicit_penalty.yaml both define experiments.relu_magnitude; ",
    ),
    "no such paper": (
        None,
        "papers: there is no config/papers/a.yaml; the papers there are: across, across/atlas, across/claims, ",
    ),
}


@pytest.mark.parametrize(("text", "sentence"), IN_PAPERS.values(), ids=list(IN_PAPERS))
def test_a_mistake_in_a_papers_file_is_one_sentence_that_names_it(unmade, text, sentence):
    file = unmade.folder / "config/papers/a.yaml"
    if text:
        file.write_text(text)
    try:
        unmade.configure({"papers": ["a"]})
        assert refusal(unmade).startswith(sentence)
    finally:
        file.unlink(missing_ok=True)


@pytest.mark.parametrize(("change", "sentence"), REFUSED.values(), ids=REFUSED)
def test_a_wrong_configuration_stops_before_any_job(unmade, change, sentence):
    unmade.configure(changed(*change))
    assert refusal(unmade).startswith(sentence)


def test_a_real_process_says_the_same_and_ends_with_1(unmade):
    change, sentence = REFUSED["unknown key"]
    unmade.configure(changed(*change))
    done = unmade.run_python("-m", "snakemake", "--dry-run")
    assert done.returncode == 1
    assert f"\ncarryover: {sentence}" in done.stderr
    assert done.stdout == ""


def test_code_that_cannot_be_parsed_is_named_with_its_line(unmade):
    unmade.configure(TINY)
    file = unmade.folder / "scripts/carryover/measures/risk.py"
    text = file.read_text()
    file.write_text(f"def measure(:\n{text}")
    assert refusal(unmade) == "scripts/carryover/measures/risk.py, line 1: invalid syntax."
    file.write_text(text)


@pytest.mark.parametrize("folder", ["results", "results/tiny"])
def test_a_results_folder_that_cannot_be_written_is_named(unmade, folder):
    unmade.configure(TINY)
    path = unmade.folder / folder
    shutil.rmtree(unmade.folder / "results", ignore_errors=True)
    path.parent.mkdir(exist_ok=True)
    path.write_text("a file")
    assert refusal(unmade) == f"cannot write into the results folder {folder} (File exists)."
    path.unlink()


@pytest.mark.parametrize("path", ["figures/nothing.png", "tiny/nothing.nc", "tiny/finetune/solver~nothing/0.nc"])
def test_a_target_that_nothing_makes_is_named(project, path):
    done = project.snakemake("--dry-run", f"results/{path}")
    assert done.code == 1
    assert f"No rule to produce results/{path}" in done.text
    assert "Traceback" not in done.text


def failure(project, *targets):
    """What is printed when the jobs of the targets fail; they leave nothing, not even what was there before."""
    done = project.snakemake(*targets)
    assert done.code == 1
    assert "Traceback" not in done.text
    for target in targets:
        assert not (project.folder / target).exists()
        assert not (project.folder / f"{target}.json").exists()
    assert not project.litter()
    return done.text


IMPOSSIBLE = {
    "more features than room": (
        (*FINETUNE, "main_features", 12),
        EXACT,
        "\nfinetune: 12 new features do not fit into the 9 dimensions that the auxiliary task leaves of 12.\n",
    ),
    "overlap that is no whole number": (
        (*FINETUNE, "overlap", 0.25),
        EXACT,
        "\nfinetune: overlap 0.25 of 2 main features is 0.5, no whole number.\n",
    ),
    "divergent learning rate": (
        (*SIMULATED, "learning_rate", 1.0e6),
        DESCENT,
        "\nfinetune: gradient descent with learning rate 1e+06 diverged in 4 runs: "
        "seed 0, main_features 2, overlap 0.0, rescale 1.0, initial_scale ",
    ),
}


@pytest.mark.parametrize(("change", "target", "sentence"), IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_an_impossible_job_says_why(project, change, target, sentence):
    project.configure(changed(*change))
    assert sentence in failure(project, target)


def test_damaged_and_foreign_files_between_stages_are_named(project):
    os.truncate(project.folder / DESCENT, 5000)
    xr.Dataset({"a": ("x", [1.0, 2.0])}).to_netcdf(project.folder / EXACT, engine="netcdf4")
    targets = [path.replace("finetune/", "measure/sparsity/") for path in (DESCENT, EXACT)]
    said = failure(project, *targets)
    assert f"\nmeasure: {DESCENT} is not netCDF, or truncated or damaged: delete it and run again (" in said
    assert f"\nmeasure: {EXACT} was not written by Carryover (it has no attribute carryover_format): delete it" in said
    for path in (DESCENT, EXACT):
        (project.folder / path).unlink()
    assert project.would_run(*targets) == {"finetune": 2, "measure": 2}


def test_a_missing_file_is_named_when_a_script_runs_by_hand(project):
    done = project.run_python("scripts/measure.py", "risk", "--finetuned", "results/nowhere.nc", "--output", "x.nc")
    assert done.returncode == 1
    assert done.stderr == "measure: results/nowhere.nc is missing: run the step that makes it.\n"
    assert not list(project.folder.glob("*x.nc*"))
