"""Every script by hand, in a folder of its own: from pretraining to collected runs, and a user's mistakes."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from carryover.provenance import store
from carryover.workflow import collecting

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"
TASK = ["--dimension", "10", "--auxiliary-features", "3"]
TOY = ["--experiment", "toy", "--seeds", "0", "1", *TASK]
MAIN = ["--samples", "3", "5", "--main-features", "2", "--overlap", "0.0", "1.0"]
FINETUNED = ["--protocol", "finetuning", "--solver", "exact", "--pretrained", "pretrained.nc"]
SCRATCH = ["--protocol", "single_task", "--solver", "exact", "--initial-scale", "0.1"]
RISK = ["facets", "--roles", "risk", "--data", "risk.nc", "--title", "A title: 50 % of it"]
CHAIN = {
    "pretrained.nc": ["pretrain", "diagonal", *TOY, "--samples", "16"],
    "finetuned.nc": ["finetune", "diagonal", *TOY, *MAIN, *FINETUNED],
    "scratch.nc": ["finetune", "diagonal", *TOY, *MAIN, *SCRATCH],
    "finetuned_risk.nc": ["measure", "risk", "--finetuned", "finetuned.nc"],
    "scratch_risk.nc": ["measure", "risk", "--finetuned", "scratch.nc"],
    "risk.nc": ["collect", "finetuned.nc", "scratch.nc", "--family", "diagonal", "--measure", "risk"],
}


def script(name, *words, folder, output=None):
    """The finished process of one script."""
    output = [] if output is None else ["--output", *([output] if isinstance(output, str) else output)]
    command = [sys.executable, SCRIPTS / f"{name}.py", *words, *output]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


def ended(name, *words, monkeypatch, output=None):
    """Exit code, or last sentence, of a script that ends early: run in this process, which spares its imports."""
    output = [] if output is None else ["--output", output]
    monkeypatch.setattr(sys, "argv", list(map(str, (SCRIPTS / f"{name}.py", *words, *output))))
    with pytest.raises(SystemExit) as end:
        runpy.run_path(str(SCRIPTS / f"{name}.py"), run_name="__main__")
    return end.value.code


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where the whole chain has run once. Nobody changes it."""
    path = tmp_path_factory.mktemp("by_hand")
    for output, words in CHAIN.items():
        finished = script(*words, folder=path, output=output)
        assert finished.returncode == 0, finished.stderr
    (path / "damaged.nc").write_text("no netCDF")
    return path


@pytest.fixture
def files(folder):
    """What there is in the folder after the chain; the same when the test is over."""
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    yield folder
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def test_collected_runs_are_those_of_the_shards(folder):
    finetuned, scratch, risk = (
        store.load(folder / f"{name}.nc") for name in ("finetuned_risk", "scratch_risk", "risk")
    )
    assert risk.sizes["run"] == 16
    np.testing.assert_array_equal(risk["risk_final"], [*finetuned["risk_final"].values, *scratch["risk_final"].values])
    assert risk["pretrain_solver"].values.tolist() == ["exact"] * 8 + [""] * 8
    for variable in risk.variables.values():
        assert variable.attrs["long_name"]


FINETUNE = ["finetune", "diagonal", *TOY]
MISTAKES = {
    "missing": (["measure", "risk", "--finetuned", "no.nc"], "measure: no.nc is missing: run the step that makes it."),
    "plug-in": (["measure", "risks", "--finetuned", "finetuned.nc"], 2),
    "damaged": (
        ["collect", "damaged.nc", "--family", "diagonal"],
        "collect: damaged.nc is not netCDF, or truncated or damaged: delete it and run again (",
    ),
    "family": (["collect", "risk.nc", "--family", "diagonals"], 2),
    "value": ([*FINETUNE, "--samples", "0"], "finetune: --samples: Input should be greater than 0, not 0."),
    "start": (FINETUNE, "finetune: finetuning starts from pretrained networks: name their shard with --pretrained."),
    "wildcard": (["curve", "relu_penalty", "--wildcards", "curve"], 2),
    "format": (["figure", *RISK], "figure: --output x.nc: its suffix must be one of .png, .pdf."),
}


@pytest.mark.parametrize(("words", "sentence"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_one_sentence_and_leaves_no_file(files, words, sentence, monkeypatch):
    monkeypatch.chdir(files)
    name, *words = words
    said = ended(name, *words, monkeypatch=monkeypatch, output="x.nc")
    assert said == sentence if isinstance(sentence, int) else said.startswith(sentence)
    assert "\n" not in str(said)


def test_a_program_tells_its_mistake_on_standard_error_with_its_exit_code(files):
    finished = script("curve", "relu_penalty", folder=files, output="risk.nc/below/x.nc")
    assert finished.returncode == 1
    assert finished.stderr == "curve: cannot write into the folder risk.nc/below: Not a directory.\n"


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
    together = collecting.collect([one, two])
    assert together["seed"].values.tolist() == [0, 1, 0, 1]
    assert together["solver"].values.tolist() == ["exact", "exact", "", ""]
    assert together["pretrain_solver"].values.tolist() == ["", "", "flow", "flow"]
    np.testing.assert_array_equal(together["rescale"], [np.nan, np.nan, 0.5, 1])
    np.testing.assert_array_equal(together["width"], [np.nan, np.nan, 4, 8])
    np.testing.assert_array_equal(together["curve"][:2], [[0, np.nan, np.nan], [1, np.nan, np.nan]])
    np.testing.assert_array_equal(together["curve"][2:], two["curve"])
    store.save(together, tmp_path / "together.nc")
    assert store.load(tmp_path / "together.nc").identical(together)
