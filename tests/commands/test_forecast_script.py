"""`carryover forecast` prints what the library finds for what a Python file defines."""

import pytest

from carryover import forecast
from carryover.commands import forecast as command
from carryover.commands.rescale import definitions
from carryover.errors import UserError
from carryover.provenance import store

NETWORK = """
import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(5, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
inputs = torch.randn(40, 5)
loader = [(inputs, (inputs[:, 0] > 0).long())]
"""


def test_it_prints_and_keeps_what_the_library_finds(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "network.py"
    file.write_text(NETWORK)
    command.main(["network.py", "--arms", "probe", "scratch", "-o", "forecast.nc"])
    expected = forecast(**definitions(file, ("model", "loader")), arms=["probe", "scratch"])
    assert capsys.readouterr().out.strip() == expected.headline
    assert store.load("forecast.nc")["score"].equals(expected["score"])


def test_a_file_without_a_loader_is_one_sentence(tmp_path):
    file = tmp_path / "network.py"
    file.write_text(NETWORK.replace("loader =", "other ="))
    with pytest.raises(UserError, match="does not define loader: it must define model, loader"):
        command.main([str(file)])
