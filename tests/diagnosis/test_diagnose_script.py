"""The script, in process: its files, its records, a user's mistakes; the lines that the documentation says to copy."""

import contextlib
import io
import re
import shlex
from collections import OrderedDict
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from carryover.commands import diagnose as script
from carryover.diagnosis import regimes
from carryover.errors import UserError
from carryover.provenance import job_record, store
from toy import diagnosed_networks as networks

DOCS = Path(__file__).parents[2] / "docs" / "diagnose.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with two files and a report, with other criteria than the default."""
    made = tmp_path_factory.mktemp("diagnosed")
    np.savez(made / "before.npz", **{"a <b>": networks.pretrained(600), "c": networks.pretrained(600)})
    np.savez(made / "after.npz", **{"a <b>": networks.selected(600), "c": networks.frozen(600)})
    with contextlib.chdir(made), contextlib.redirect_stdout(io.StringIO()) as said:
        run("-o", "report", "--most", "0.75")
    headline, *layers = said.getvalue().splitlines()
    assert headline.startswith("2 layers: select in 1 (a <b>), unchanged in 1 (c). Of the variance before, ")
    assert [line.partition(" [")[0][:-5] for line in layers] == ["a <b>: select; inherited", "c: unchanged; inherited"]
    return made


def run(*words):
    with plt.rc_context():
        script.main(["--pretrained", "before.npz", "--finetuned", "after.npz", *words])
    plt.close("all")


def test_data_and_figure_have_true_records(folder, monkeypatch):
    monkeypatch.chdir(folder)
    names = [f"diagnosis.{suffix}" for suffix in ("nc", "png")]
    assert sorted(path.name for path in Path("report").iterdir()) == sorted([*names, *(f"{n}.json" for n in names)])
    for name in names:
        record = job_record.read(f"report/{name}.json")
        assert record["outputs"][f"report/{name}"]["sha256"] == store.sha256(f"report/{name}")
        assert {"before.npz", "after.npz"} < set(record["inputs"])
        assert (record["parameters"]["most"], record["parameters"]["layers"]) == (0.75, [])
        assert "carryover/diagnosis/inheritance.py" in record["code"]["files"]
    found = store.load("report/diagnosis.nc")
    assert found["regime"].values.tolist() == [regimes.SELECT, regimes.UNCHANGED]
    assert all(variable.attrs["long_name"] and variable.attrs["units"] for variable in found.variables.values())


def test_mistakes_are_named_and_leave_nothing(folder, monkeypatch):
    monkeypatch.chdir(folder)
    with pytest.raises(UserError, match="lacks the layer d; it has a <b>, c"):
        run("-o", "none", "--layers", "c", "d")
    with pytest.raises(UserError, match=r"--most: Input should be less than or equal to 1, not 2.0"):
        run("-o", "none", "--most", "2")
    with pytest.raises(UserError, match=r"^--finetuned no\.npz: there is no such file$"):
        run("-o", "none", "--finetuned", "no.npz")
    assert not list(Path().glob("none/*"))


def network(seed, **layers):
    torch.manual_seed(seed)
    return nn.Sequential(OrderedDict((name, nn.Linear(*sizes)) for name, sizes in layers.items()))


def at_hand():
    """What the lines to copy take for granted."""
    before, after = (network(seed, layer1=(20, 8), layer2=(8, 8)) for seed in range(2))
    samples = torch.randn(500, 20)

    def make(seed):
        return network(seed, layer=(4, 3), classifier=(3, 2))

    def finetune(net, seed):
        with torch.no_grad():
            net.layer.bias.add_(0.01 * seed)

    data, draws = TensorDataset(samples, samples[:, 0]), torch.Generator().manual_seed(0)
    return {
        "torch": torch, "before": before, "after": after, "make": make, "finetune": finetune,
        "loader": DataLoader(data, batch_size=64, shuffle=True, generator=draws),
        "state": make(99).state_dict(), "score": lambda net: -float(net.layer.bias.detach().square().sum()),
    }  # fmt: skip


@pytest.mark.extended
def test_the_lines_to_copy_work_as_they_stand(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = DOCS.read_text(encoding="utf-8")
    known = at_hand()  # and what earlier lines have made
    with plt.rc_context():
        blocks = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
        assert len(blocks) == 3
        for text in blocks:
            exec(text, known)
    program, command, *words = shlex.split(re.search(r"`(carryover diagnose [^`]*)`", page)[1])
    assert (program, command) == ("carryover", "diagnose")
    script.main(words)
    plt.close("all")
    assert Path("report/diagnosis.png").stat().st_size > 10_000
