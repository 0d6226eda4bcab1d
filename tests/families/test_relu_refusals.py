"""What stages of the ReLU family refuse, in one sentence each, and what a user at the command line gets to see."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from carryover.config.parameters import model_of
from carryover.errors import UserError
from carryover.families import running
from carryover.families.relu import finetune, parameters
from toy.relu_toys import FITTED, TASK, finetuned, pretrained

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
TOY = [
    "relu",
    "--experiment",
    "toy",
    "--dimension",
    "7",
    "--width",
    "9",
    "--auxiliary-features",
    "3",
    "--device",
    "cpu",
]
QUICK = ["--learning-rate", "0.1", "--max-epochs", "20"]
PRETRAIN = [*TOY, *QUICK, "--seeds", "0", "1", "--samples", "20", "--initial-scale", "0.5"]
MAIN = [*TOY, *QUICK, "--samples", "3", "5", "--main-features", "2", "--overlap", "0.5", "--batch-size", "2"]


@pytest.fixture(scope="module")
def start():
    return pretrained(max_epochs=2)


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        *(({"protocol": name, "solver": "descent"}, f"{name} has no solver descent: choose ridge.") for name in FITTED),
        ({"main_features": (3,)}, "overlap 0.5 of 3 main features is 1.5, no whole number."),
        (
            {"main_features": (4,), "overlap": (1.0,)},
            "main unit 4 correlates with an auxiliary one, but there are only 3.",
        ),
        ({"seeds": (1, 4, 5)}, "the pretrained shard has the seeds [0, 1, 2], but not [4, 5]."),
        ({"dimension": 6}, "dimension is 6, but the pretrained networks have 7."),
    ],
)
def test_what_cannot_be_done_is_one_sentence(start, told, sentence):
    with pytest.raises(UserError) as error:
        finetuned(start, **told)
    assert str(error.value) == sentence


def test_the_pretrained_shard_must_be_there_exactly_if_it_is_used(start):
    for protocol in parameters.PRETRAINED:
        p = model_of("families.relu", "finetune")(
            **TASK, protocol=protocol, solver="ridge" if protocol in FITTED else "descent"
        )
        with pytest.raises(UserError) as error:
            running.run(finetune, p, "toy", [0], None)
        sentence = f"{protocol} starts from pretrained networks: name their shard with --pretrained."
        assert str(error.value) == sentence
    for protocol in parameters.SCRATCH:
        p = model_of("families.relu", "finetune")(
            **TASK, protocol=protocol, solver="ridge" if protocol in FITTED else "descent"
        )
        with pytest.raises(UserError) as error:
            running.run(finetune, p, "toy", [0], None, start)
        assert str(error.value) == f"{protocol} starts from scratch: leave --pretrained out."


# By hand.


def done(name, *words, folder, output):
    """A script that has run."""
    command = [sys.executable, SCRIPTS / f"{name}.py", *words, "--output", output]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    finished = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    assert finished.returncode == 0, finished.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where networks were pretrained and finetuned by hand."""
    path = tmp_path_factory.mktemp("relu")
    done("pretrain", *PRETRAIN, folder=path, output="pretrained.nc")
    words = ["--seeds", "1", "--protocol", "finetuning", "--pretrained", "pretrained.nc", "--rescale", "1", "0.5"]
    done("finetune", *MAIN, *words, folder=path, output="finetuned.nc")
    words = ["--seeds", "0", "1", "--protocol", "single_task_kernel", "--solver", "ridge"]
    done("finetune", *MAIN, *words, folder=path, output="kernel.nc")
    done("measure", "risk", "--finetuned", "finetuned.nc", folder=path, output="risk.nc")
    return path
