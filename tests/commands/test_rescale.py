"""`carryover rescale` searches for the network of a Python file what the library finds for the same functions."""

import json
from pathlib import Path

import pytest

from carryover.commands import rescale
from carryover.diagnosis.rescaling import choose_factor
from carryover.errors import UserError
from carryover.provenance import store

# Finetuning leaves the weight where it is, and the score is highest where the factor has made 1 of 4.
NETWORK = """
import torch

state = {"0.weight": torch.tensor([[4.0]]), "1.weight": torch.tensor([[1.0]])}

def make(seed):
    return torch.nn.Sequential(torch.nn.Linear(1, 1, bias=False), torch.nn.Linear(1, 1, bias=False))

def finetune(network, seed):
    network.seed = seed

def score(network):
    return -abs(network[0].weight.item() - 1) - 0.001 * network.seed
"""


@pytest.fixture
def network(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("network.py").write_text(NETWORK)
    return "network.py"


def test_it_finds_what_the_library_finds(network, capsys):
    rescale.main([network, "--factors", "0.25", "0.5", "2", "-o", "factor.nc"])
    lines = capsys.readouterr().out.splitlines()
    defined = rescale.definitions(Path(network), rescale.NEEDED)
    choice = choose_factor(**defined, factors=(0.25, 0.5, 2.0))
    assert choice.factor == 0.25
    assert lines[-1] == choice.sentence()
    assert [float(line.split()[0]) for line in lines[-6:-2]] == [0.25, 0.5, 1, 2]
    assert lines[-2] == "28 trainings, recommended factor 0.25."
    kept = store.load("factor.nc").drop_attrs(deep=False)
    assert kept.identical(choice.curve)
    record = json.loads(Path("factor.nc.json").read_text())
    assert record["inputs"].keys() == {"network.py"}
    assert "carryover/diagnosis/rescaling.py" in record["code"]["files"]
    assert not any(file.startswith("numpy") for file in record["code"]["files"])


def test_a_search_that_is_cut_off_goes_on_and_head_and_control_are_options(network, capsys):
    Path(network).write_text(NETWORK.replace("seed):\n    network.seed", "seed, rate):\n    network.seed"))
    words = ["--head", "1", "--quiet", "--journal", "scores"]
    rescale.main([network, *words])
    first = capsys.readouterr()
    trainings = int(first.out.splitlines()[-2].split()[0])
    assert len(list(Path("scores").rglob("output.pkl"))) == trainings
    assert "No learning rate does as much: of 0.5, 2, 4 times the usual" in first.out
    assert "kept" not in first.out + first.err
    rescale.main([network, *words])
    assert capsys.readouterr().out == first.out
    assert len(list(Path("scores").rglob("output.pkl"))) == trainings


@pytest.mark.parametrize(
    ("left_out", "words", "sentence"),
    [
        ("state", [], r"network.py does not define state: it must define make, state, finetune, score"),
        ("finetune", [], r"^network\.py, line 9: this is no Python: "),
        ("4.0", [], r"state has '0.weight' of the shape \(1, 2\)"),
    ],
)
def test_a_mistake_is_one_sentence_and_leaves_no_file(left_out, words, sentence, network):
    changed = {
        "state": ("state =", "other ="),
        "4.0": ("[[4.0]]", "[[4.0, 1.0]]"),
        "finetune": ("finetune(network, seed):", "finetune(network, seed)"),
    }
    Path(network).write_text(NETWORK.replace(*changed.get(left_out, ("", ""))))
    with pytest.raises(UserError, match=sentence):
        rescale.main([network, "-o", "factor.nc", *words])
    assert [path.name for path in Path().iterdir()] == ["network.py"]
