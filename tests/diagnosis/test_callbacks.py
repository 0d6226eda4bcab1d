"""Callbacks record at the chosen steps what the network makes of the probe, and the training does not notice."""

import random
import sys

import netCDF4
import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from carryover.diagnosis.callbacks import Probe, huggingface_callback, lightning_callback
from carryover.diagnosis.trajectory import trajectory
from carryover.errors import UserError
from toy.recorded import numbers, small

PROBE = numbers(40, 6)
TARGETS = PROBE[:, :3].relu()


def steps(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_probe_records_each_due_step_once(tmp_path):
    net = small()
    probe = Probe("0.1", PROBE, tmp_path, every=10)
    for step in (0, 0, 5, 10, 10, 25, 30):
        with torch.no_grad():
            net[0][1].bias += 1
        probe.at(step, net)
    assert steps(tmp_path) == ["step_000000.nc", "step_000010.nc", "step_000030.nc"]
    with netCDF4.Dataset(tmp_path / "step_000030.nc") as file:
        np.testing.assert_allclose(file["0.1"][:], net[0](PROBE).detach(), rtol=1e-5, atol=1e-6)
    chosen = Probe("0.1", PROBE, tmp_path / "chosen", steps=[3, 4])
    for step in range(6):
        chosen.at(step, net)
    assert steps(tmp_path / "chosen") == ["step_000003.nc", "step_000004.nc"]


def test_a_probe_is_the_same_samples_each_time_and_leaves_random_numbers_alone(tmp_path):
    loader = DataLoader(TensorDataset(PROBE, TARGETS), batch_size=8, shuffle=True)
    net = small()
    before = torch.get_rng_state(), random.getstate()
    probe = Probe("0.0.0", loader, tmp_path, samples=20)
    for step in (0, 100):
        probe.at(step, net)
    assert torch.equal(torch.get_rng_state(), before[0])
    assert random.getstate() == before[1]
    with netCDF4.Dataset(tmp_path / "step_000000.nc") as one, netCDF4.Dataset(tmp_path / "step_000100.nc") as other:
        assert one["0.0.0"].shape == (24, 5)
        np.testing.assert_array_equal(one["0.0.0"][:], other["0.0.0"][:])


@pytest.mark.parametrize(("told", "sentence"), [
    ({"every": 0}, "every must be a whole number from 1, got 0"),
    ({"samples": 0.5}, "samples must be a whole number from 1, got 0.5"),
    ({"loader": []}, "loader gives no batches"),
])  # fmt: skip
def test_what_is_no_probe_is_refused(told, sentence, tmp_path):
    with pytest.raises(UserError, match=sentence):
        Probe(**{"names": "1", "loader": PROBE, "folder": tmp_path} | told)


@pytest.mark.parametrize(("make", "module", "sentence"), [
    (lightning_callback, "lightning.pytorch", r'lightning is not installed .*: .*`pip install "\.\[lightning\]"`'),
    (huggingface_callback, "transformers", r'transformers is not installed .*: .*`pip install "\.\[huggingface\]"`'),
])  # fmt: skip
def test_a_framework_that_is_not_installed_is_named(make, module, sentence, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UserError, match=sentence):
        make("1", PROBE, tmp_path)


@pytest.mark.filterwarnings("ignore")
def test_lightning(tmp_path):
    lightning = pytest.importorskip("lightning.pytorch", reason="Lightning is not installed")

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = nn.Sequential(small(), nn.Dropout(0.5))

        def forward(self, x):
            return self.net(x)

        def training_step(self, batch, index):
            x, y = batch
            return (self(x) - y).square().mean()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)

    def trained(*callbacks):
        torch.manual_seed(0)
        module = Module()
        told = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False, "accelerator": "cpu"}
        told |= {"enable_model_summary": False, "default_root_dir": tmp_path, "accumulate_grad_batches": 2}
        loader = DataLoader(TensorDataset(PROBE, TARGETS), batch_size=4, shuffle=True)
        lightning.Trainer(max_epochs=3, callbacks=list(callbacks), **told).fit(module, loader)
        return module

    alone = trained()
    watched = trained(lightning_callback("net.0.?", PROBE, tmp_path / "made", every=4))
    for one, other in zip(alone.parameters(), watched.parameters(), strict=True):
        assert torch.equal(one, other)
    assert steps(tmp_path / "made") == [f"step_{step:06d}.nc" for step in (0, 4, 8, 12)]
    found = trajectory(tmp_path / "made", progress=False)
    assert found["layer"].values.tolist() == ["net.0.0", "net.0.1"]
    assert (found["cka"].isel(step=-1) < 1 - 1e-6).all()


@pytest.mark.filterwarnings("ignore")
def test_huggingface(tmp_path):
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    pytest.importorskip("accelerate", reason="accelerate is not installed")
    shape = {"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 8}
    ids = torch.randint(0, 20, (40, 5), generator=torch.Generator().manual_seed(0))
    data = [{"input_ids": row, "attention_mask": torch.ones(5).long(), "labels": row[0] % 2} for row in ids]
    probe = [transformers.default_data_collator(data)]

    def trained(*callbacks):
        torch.manual_seed(0)
        model = transformers.BertForSequenceClassification(transformers.BertConfig(vocab_size=20, **shape))
        told = {"report_to": [], "save_strategy": "no", "logging_strategy": "no", "use_cpu": True, "disable_tqdm": True}
        told |= {"max_steps": 9, "per_device_train_batch_size": 4, "learning_rate": 1e-2, "output_dir": str(tmp_path)}
        arguments = transformers.TrainingArguments(**told)
        transformers.Trainer(model, arguments, train_dataset=data, callbacks=list(callbacks)).train()
        return model

    alone = trained()
    chosen = {"reduce": "mean", "steps": [0, 3, 9]}
    watched = trained(huggingface_callback("bert.encoder.layer.?", probe, tmp_path / "made", **chosen))
    for one, other in zip(alone.parameters(), watched.parameters(), strict=True):
        assert torch.equal(one, other)
    assert steps(tmp_path / "made") == [f"step_{step:06d}.nc" for step in (0, 3, 9)]
    with netCDF4.Dataset(tmp_path / "made/step_000009.nc") as file:
        hidden = watched.eval().bert(ids).last_hidden_state.mean(1).detach()
        np.testing.assert_allclose(file["bert.encoder.layer.1"][:], hidden, rtol=1e-4, atol=1e-5)
