"""Every script as a program of its own, by hand in a folder of its own: from pretraining to a figure, and its mistakes."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from PIL import Image

import collect
from carryover import provenance, store

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS, STYLE = ROOT / "scripts", ROOT / "config/figures.mplstyle"
TASK = ["--dimension", "10", "--auxiliary-features", "3"]
TOY = ["--experiment", "toy", "--seeds", "0", "1", *TASK]
MAIN = ["--samples", "3", "5", "--main-features", "2", "--overlap", "0.0", "1.0"]
SOLVED = ["--protocol", "finetuning", "--solver", "exact", "--pretrained", "pretrained.nc"]
TRAINED = ["--protocol", "single_task", "--solver", "flow", "--initial-scale", "0.1", "--device", "cpu"]
RISK = ["risk_curves", "--roles", "risk", "--data", "risk.nc", "--style", STYLE, "--title", "A title: 50 % of it"]
CHAIN = {
    "pretrained.nc": ["pretrain", "diagonal", *TOY, "--samples", "16"],
    "solved.nc": ["finetune", "diagonal", *TOY, *MAIN, *SOLVED],
    "trained.nc": ["finetune", "diagonal", *TOY, *MAIN, *TRAINED],
    "solved_risk.nc": ["measure", "risk", "--finetuned", "solved.nc"],
    "trained_risk.nc": ["measure", "risk", "--finetuned", "trained.nc"],
    "risk.nc": ["collect", "solved_risk.nc", "trained_risk.nc"],
    "curve.nc": ["curve", "relu_penalty", "--points", "5", "--readout", "-0.00001"],
}


def script(name, *words, folder, output=None):
    """The finished process of one script."""
    output = [] if output is None else ["--output", *([output] if isinstance(output, str) else output)]
    command = [sys.executable, SCRIPTS / f"{name}.py", *words, *output]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


def done(*words, **told):
    finished = script(*words, **told)
    assert finished.returncode == 0, finished.stderr
    return finished


def figure(name):
    return [f"{name}.{suffix}" for suffix in ("png", "svg", "pdf")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where the whole chain has run once. Nobody changes it."""
    path = tmp_path_factory.mktemp("by_hand")
    for output, words in CHAIN.items():
        done(*words, folder=path, output=output)
    for name in ("first", "again/second"):
        done("figure", *RISK, folder=path, output=figure(name))
    return path


@pytest.fixture
def files(folder):
    """What there is in the folder after the chain; the same when the test is over."""
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    yield folder
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def test_every_result_has_a_true_record(folder):
    for output in [*CHAIN, *figure("first")]:
        record = provenance.read(folder / f"{output}.json")
        assert record["outputs"][output]["sha256"] == store.sha256(folder / output)
        for path, found in record["inputs"].items():
            assert found["sha256"] == store.sha256(folder / path)
        assert record["command"][-1] == output or output in figure("first")


def test_records_say_what_was_asked(folder):
    record = json.loads((folder / "solved.nc.json").read_text())
    assert record["rule"] == "finetune"
    assert record["seeds"] == [0, 1]
    assert record["parameters"]["samples"] == [3, 5]
    assert record["parameters"]["readout_scale"] == 1e-3
    assert set(record["inputs"]) == {"pretrained.nc"}
    assert {"finetune.py", "carryover/families/diagonal/exact.py"} <= set(record["code"]["files"])
    assert "carryover/families/diagonal/flow.py" not in record["code"]["files"]
    assert "torch" not in record["environment"]["versions"]
    assert "torch" in json.loads((folder / "trained.nc.json").read_text())["environment"]["versions"]


def test_results_are_the_same_bytes_when_made_again(folder, tmp_path):
    shutil.copy(folder / "pretrained.nc", tmp_path)
    for output in ("solved.nc", "trained.nc"):
        done(*CHAIN[output], folder=tmp_path, output=output)
        assert (tmp_path / output).read_bytes() == (folder / output).read_bytes()


def test_collected_runs_are_those_of_the_shards(folder):
    solved, trained, risk = (store.load(folder / name) for name in ("solved_risk.nc", "trained_risk.nc", "risk.nc"))
    assert risk.sizes["run"] == solved.sizes["run"] + trained.sizes["run"] == 16
    np.testing.assert_array_equal(risk["risk_final"], [*solved["risk_final"].values, *trained["risk_final"].values])
    assert risk["pretrain_solver"].values.tolist() == ["exact"] * 8 + [""] * 8
    for variable in risk.variables.values():
        assert variable.attrs["long_name"]


def test_figures_carry_the_digest_of_their_request(folder):
    request = json.loads((folder / "first.png.json").read_text())["request"]
    with Image.open(folder / "first.png") as image:
        assert image.text["Description"] == f"Carryover request {request}"
    assert f"Carryover request {request}" in (folder / "first.svg").read_text()
    assert f"/Subject (Carryover request {request})".encode() in (folder / "first.pdf").read_bytes()


def test_figures_are_the_same_bytes_when_drawn_again(folder):
    for first, second in zip(figure("first"), figure("again/second"), strict=True):
        assert (folder / first).read_bytes() == (folder / second).read_bytes()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["pretrain"], "Pretrain one shard"),
        (["finetune"], "{diagonal"),
        (["finetune", "diagonal"], "--learning-rate"),
        (["measure", "sparsity"], "most weights to count as the top k (default: 100)"),
        (["curve", "relu_penalty"], "--auxiliary-magnitude"),
        (["collect"], "measured shards"),
        (["figure", "risk_curves"], "--style"),
        (["schema"], "config/schema.yaml"),
    ],
    ids=" ".join,
)
def test_help_says_what_there_is(words, said, tmp_path):
    name, *words = words
    assert said in " ".join(done(name, *words, "--help", folder=tmp_path).stdout.split())
    assert not list(tmp_path.iterdir())


FINETUNE = ["finetune", "diagonal", *TOY]
MISTAKES = {
    "file missing": (["measure", "risk", "--finetuned", "no.nc"], 1, "measure: no.nc is missing: run the step that makes it."),
    "value": ([*FINETUNE, "--samples", "0"], 1, "finetune: --samples 0: it must be a whole number ≥ 1."),
    "start missing": (FINETUNE, 1, "finetune: finetuning starts from pretrained networks: name their shard with --pretrained."),
    "solver": (
        [*FINETUNE, *MAIN, "--protocol", "multi_task"], 1,
        "finetune: multi_task has no exact limit: choose solver flow or descent.",
    ),
    "wildcard": (
        ["curve", "relu_penalty", "--wildcards", "curve"], 1, "curve: --wildcards curve: it must be KEY=VALUE.",
    ),
    "roles": (
        ["figure", *RISK, "--roles", "risk", "norms"], 1,
        "figure: --roles and --data must name as many things each: they name 2 and 1.",
    ),
    "role": (
        ["figure", *RISK, "--roles", "risks"], 1,
        "figure: this figure draws data of the role risk; it was given: risks.",
    ),
    "not ours": (["collect", "solved_risk.nc", STYLE], 1, "and run again"),
    "format": (["figure", *RISK], 1, "figure: --output x.nc: its suffix must be one of .png, .svg, .pdf."),
    "plug-in": (["measure", "risks"], 2, "(choose from "),
    "flag": ([*FINETUNE, "--sample", "3"], 2, "finetune.py diagonal: error: unrecognized arguments: --sample 3"),
    "choice": ([*FINETUNE, "--solver", "newton"], 2, "argument --solver: invalid choice: 'newton'"),
}  # fmt: skip


@pytest.mark.parametrize(("words", "code", "sentence"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_one_sentence_and_leaves_no_file(files, words, code, sentence):
    name, *words = words
    finished = script(name, *words, folder=files, output="x.nc")
    assert finished.returncode == code
    assert sentence in finished.stderr.splitlines()[-1]
    assert "Traceback" not in finished.stderr


def test_a_folder_that_cannot_be_written_is_named(files):
    finished = script(*CHAIN["curve.nc"], folder=files, output="risk.nc/below/x.nc")
    assert finished.returncode == 1
    assert finished.stderr == "curve: cannot write into the folder risk.nc/below: Not a directory.\n"


def test_the_schema_script_writes_what_is_committed(tmp_path):
    for part in ("scripts", "config"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    committed = {name: (tmp_path / "config" / name).read_text() for name in ("schema.yaml", "README.md")}
    (tmp_path / "config/schema.yaml").write_text("")
    subprocess.run([sys.executable, tmp_path / "scripts/schema.py"], check=True, timeout=120)
    assert {name: (tmp_path / "config" / name).read_text() for name in committed} == committed


def shard(coordinates, checkpoints):
    """A measured shard of two runs."""
    named = {"long_name": "made for a test", "units": "1"}
    curve = np.arange(2.0 * checkpoints).reshape(2, checkpoints)
    return xr.Dataset(
        {"risk": ("run", [1.0, 2.0], named), "curve": (("run", "checkpoint"), curve, named)},
        coords={
            "checkpoint": ("checkpoint", np.arange(checkpoints), named),
            **{name: ("run", values, named) for name, values in coordinates.items()},
        },
    )


def test_shards_with_other_coordinates_and_checkpoints_are_filled(tmp_path):
    one = shard({"seed": [0, 1], "solver": ["exact", "exact"]}, 1)
    two = shard({"seed": [0, 1], "rescale": [0.5, 1.0], "pretrain_solver": ["flow", "flow"], "width": [4, 8]}, 3)
    together = collect.collect([one, two])
    assert together["seed"].values.tolist() == [0, 1, 0, 1]
    assert together["solver"].values.tolist() == ["exact", "exact", "", ""]
    assert together["pretrain_solver"].values.tolist() == ["", "", "flow", "flow"]
    np.testing.assert_array_equal(together["rescale"], [np.nan, np.nan, 0.5, 1])
    np.testing.assert_array_equal(together["width"], [np.nan, np.nan, 4, 8])
    np.testing.assert_array_equal(together["curve"][:2], [[0, np.nan, np.nan], [1, np.nan, np.nan]])
    np.testing.assert_array_equal(together["curve"][2:], two["curve"])
    store.save(together, tmp_path / "together.nc")
    assert store.load(tmp_path / "together.nc").identical(together)


def test_one_shard_alone_stays_what_it_is():
    one = shard({"seed": [0, 1], "solver": ["exact", "exact"]}, 2)
    assert collect.collect([one]).identical(one)
