"""The family of convolutional networks: what its datasets hold, what runs share, and what is refused."""

from itertools import combinations

import numpy as np
import pytest
import torch

from carryover.networks.convnet import ResNet18
from carryover.networks.convnet_weights import unpack
from toy.refusal import refused
from toy.shards import shard

TASK = {"width": 2, "tasks": 2, "device": "cpu"}
SHORT = {"samples": (4, 6), "max_epochs": 2}


def pretrained(seeds=(0, 1), **told):
    return shard("convnet", "pretrain", seeds, **TASK | {"max_epochs": 1} | told)


def finetuned(start=None, seeds=(0, 1), **told):
    protocol = "single_task" if start is None else "finetuning"
    return shard("convnet", "finetune", seeds, start, **TASK | SHORT | {"protocol": protocol} | told)


@pytest.fixture(scope="module")
def start():
    return pretrained()


def network(state, outputs):
    built = ResNet18(torch.Generator(), outputs, 2, "small", 1)
    built.load_state_dict(unpack(built, state))
    return built.state_dict()


def one(data, **which):
    chosen = np.logical_and.reduce([data[name].values == value for name, value in which.items()])
    return data.isel(run=np.flatnonzero(chosen)).squeeze("run")


def test_each_seed_and_task_has_a_network_that_saw_the_other_classes(start):
    assert list(zip(start["seed"].values, start["task"].values, strict=True)) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    data = finetuned(start)
    for source, target in zip(data["source_classes"].values, data["target_classes"].values, strict=True):
        assert sorted(f"{source} {target}".split()) == list("0123456789")
    assert data.sizes["run"] == 8
    assert np.isfinite(data[["risk_final", "loss"]].to_array()).all()
    assert "state" not in data


def test_every_seed_leaves_classes_of_its_own_out_of_the_pretraining_of_its_one_network():
    told = {"held_out_classes": 4, "tasks": 6}
    start = pretrained(**told)
    assert start["task"].values.tolist() == [-1, -1]
    tuned = {which: finetuned(start, samples=(4,), targets=which, **told) for which in ("sets", "all")}
    beside = finetuned(samples=(4,), protocol="multi_task", max_epochs=1, **told)
    known = []
    for seed in (0, 1):
        (source,) = set(one(start, seed=seed)["source_classes"].values.flat)
        left = sorted(set("0123456789") - set(source.split()))
        assert len(left) == 4
        for data in (tuned["sets"], beside):
            own = data.isel(run=data["seed"].values == seed)
            assert set(own["target_classes"].values) == {" ".join(pair) for pair in combinations(left, 2)}
            assert set(own["source_classes"].values) == {source}
        assert one(tuned["all"], seed=seed)["target_classes"] == " ".join(left)
        known.append(source)
    assert known[0] != known[1]
    assert refused(finetuned, held_out_classes=3, tasks=4) == "tasks is 4, but 3 classes give 3 sets of 2."
    said = "held_out_classes is 9, but of 10 classes two must be left for pretraining: lower it."
    assert refused(pretrained, held_out_classes=9) == said


def test_training_starts_from_the_pretrained_network_with_a_new_last_layer_rescaled(start):
    told = {"samples": (4,), "max_epochs": 1, "learning_rate": 1e-30, "keep_weights": True, "rescale": (0.5, 1.0)}
    for which, parts in {"all": (0.5, 0.5, 0.5), "weights": (0.5, 1, 0.5), "readout": (1, 1, 0.5)}.items():
        data = finetuned(start, rescaled=which, **told)
        before = network(start["state"].values[0], 8)
        after = {factor: network(one(data, seed=0, task=0, rescale=factor)["state"].values, 2) for factor in (0.5, 1.0)}
        begun = network(data["start_state"].values[int(one(data, seed=0, task=0, rescale=0.5)["start"])], 2)
        for name, factor in zip(("conv1.weight", "bn1.weight", "fc.weight"), parts, strict=True):
            np.testing.assert_allclose(after[0.5][name], factor * after[1.0][name])
            np.testing.assert_array_equal(begun[name], after[1.0][name])
        torch.testing.assert_close(after[1.0]["layer4.0.conv1.weight"], before["layer4.0.conv1.weight"])
        assert after[1.0]["fc.weight"].shape == (2, 16)


def test_statistics_are_renewed_or_kept(start):
    told = {"samples": (4,), "max_epochs": 1, "learning_rate": 1e-30, "keep_weights": True, "rescale": (0.5,)}
    renewed, kept = (finetuned(start, statistics=which, **told) for which in ("renewed", "kept"))
    before = network(start["state"].values[0], 8)["layer4.1.bn2.running_var"]
    found = [network(data["state"].values[0], 2)["layer4.1.bn2.running_var"] for data in (renewed, kept)]
    assert (found[1] > 0.8 * before).all()  # nine tenths of the old ones after one step
    assert (found[0] < 0.5 * before).all()  # of inputs and weights a half as large


def test_several_tasks_are_learned_beside_the_classes_of_pretraining():
    data = finetuned(protocol="multi_task", tasks=1, samples=(4,), max_epochs=1, keep_weights=True, seeds=(0,))
    assert data.attrs["classes"] == 10
    assert len(str(data["source_classes"].values[0]).split()) == 8
    assert data["evaluations"].values[0] > 1  # as many steps as the larger task asks for
    assert network(data["state"].values[0], 10)["fc.weight"].shape == (10, 16)


def test_published_weights_are_read_from_a_file(tmp_path):
    built = ResNet18(torch.Generator().manual_seed(4), 1000, 2, "small", 1)
    file = tmp_path / "resnet18.pth"
    torch.save(built.state_dict(), file)
    start = pretrained(solver="published", weights=str(file))
    assert start["source_classes"].values.tolist() == ["", ""]
    assert np.isnan(start["risk_final"]).all()
    data = finetuned(start, samples=(4,), keep_weights=True, classes=10, tasks=1, max_epochs=1, seeds=(0,))
    begun = network(data["start_state"].values[0], 10)
    assert torch.equal(begun["layer3.0.conv1.weight"], built.state_dict()["layer3.0.conv1.weight"])
    assert "must name a file" in refused(pretrained, solver="published")
    file.write_bytes(file.read_bytes()[:-100])
    assert f"{file} cannot be read safely" in refused(pretrained, solver="published", weights=str(file))
    other = tmp_path / "other.pth"
    torch.save(ResNet18(torch.Generator(), 1000, 3, "small", 1).state_dict(), other)
    assert "'conv1.weight' of the shape (3, 1, 3, 3), in this ResNet18 of the shape (2, 1, 3, 3)" in refused(
        pretrained, solver="published", weights=str(other)
    )


def test_what_cannot_be_is_refused(start):
    said = refused(finetuned, start, tasks=2, classes=3)
    assert said.startswith("pretraining and finetuning share the classes [")
    assert refused(finetuned, start, width=4) == "width is 4, but the pretrained networks have 2."
    assert refused(finetuned, start, network="vgg11") == "network is vgg11, but the pretrained networks have resnet18."
    assert refused(finetuned, start, tasks=3).endswith("no network of seed 0, task 2.")
    assert "single_task starts from scratch" in refused(finetuned, start, protocol="single_task")
    assert "takes images from 32 with the stem imagenet, not of 8 pixels" in refused(
        finetuned, network="vgg11", stem="imagenet"
    )
    assert refused(finetuned, samples=(3,), batch_size=2, classes=3).startswith("batch_size is 2, so that one of 3 ")
    assert refused(finetuned, samples=(1000,)).startswith("samples is 1000, 500 of each of 2 classes, but class")
