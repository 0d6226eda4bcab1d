"""Rescale, finetune, diagnose: a network of your own, on digits, in about a minute.

    pip install -e .
    python docs/tutorial/tutorial.py my_folder

Every step is plain torch but for three calls: `choose_factor`, `record`, `diagnose`.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import torch
from torch.nn import functional as F
from torch.optim.swa_utils import update_bn

from carryover.diagnosis.diagnosis import diagnose
from carryover.diagnosis.recording import record
from carryover.diagnosis.rescaling import choose_factor
from carryover.networks.convnet import ResNet18
from carryover.networks.convnet_weights import rescaled
from carryover.streams import generator
from carryover.tasks.class_subsets import class_task, other_classes, sampled
from carryover.tasks.images import images
from carryover.tasks.prepared_images import PreparedImages

PAIR = (3, 8)  # the two digits of finetuning; the other eight are for pretraining
SAMPLES, VALIDATION = 8, 100  # labelled images of the pair
LAYERS = ["layer1", "layer2", "layer3"]

digits = images("digits")
prepared = PreparedImages(digits)
folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("tutorial")
folder.mkdir(parents=True, exist_ok=True)


# 1. A network, and two kinds of training: of all images of eight digits, and of a few of the other two.


def build(seed, classes=2):
    """A narrow ResNet-18 for images of 8 × 8 pixels, with a new last layer for so many classes."""
    return ResNet18(torch.Generator().manual_seed(seed), classes, width=8, stem="small", channels=1)


def train(network, batches, learning_rate, until=0.0):
    optimizer = torch.optim.SGD(network.parameters(), lr=learning_rate, momentum=0.9)
    network.train()
    for pixels, labels in batches:
        optimizer.zero_grad()
        loss = F.cross_entropy(network(pixels), labels)
        loss.backward()
        optimizer.step()
        if loss < until:
            break


def pretrained():
    task = class_task(digits, other_classes(10, PAIR))
    network, order = build(0, classes=8), torch.Generator().manual_seed(0)

    def batches(epochs):
        for _ in range(epochs):
            for some in torch.randperm(len(task.train), generator=order).split(128):
                yield prepared.batch("train", task.train[some]), torch.from_numpy(task.train_labels[some])

    train(network, batches(epochs=6), learning_rate=0.05)
    return network


pair = class_task(digits, PAIR)
held_out = sampled(pair, VALIDATION, generator("tutorial", "", 0, "validation"))
test = prepared.batch("test", pair.test), torch.from_numpy(pair.test_labels)
validation = prepared.batch("train", held_out.train), torch.from_numpy(held_out.train_labels)


def finetune(network, seed):
    """Full batches of a few images that are not for validation; another seed draws others."""
    left = ~torch.isin(torch.from_numpy(pair.train), torch.from_numpy(held_out.train)).numpy()
    few = sampled(
        type(pair)(pair.classes, pair.train[left], pair.train_labels[left], pair.test, pair.test_labels),
        SAMPLES,
        generator("tutorial", "", seed, "samples"),
    )
    batch = prepared.batch("train", few.train), torch.from_numpy(few.train_labels)
    # Rescaling leaves the running statistics of normalisation as they were, wrong for the scaled weights.
    update_bn([batch[0]], network)
    train(network, [batch] * 200, learning_rate=0.01, until=0.01)


def accuracy(network, pixels, labels):
    with torch.no_grad():
        return (network.eval()(pixels).argmax(1) == labels).double().mean().item()


# 2. By how much should the pretrained weights be rescaled? Validation decides, and fresh seeds check.

start = pretrained()
choice = choose_factor(
    build,
    start.state_dict(),
    finetune,
    lambda network: accuracy(network, *validation),
    which="all",
    factors=[0.25, 0.5, 1.0, 2.0],
    fresh_seeds=8,
)
print(choice.sentence())

curve = choice.curve
figure, axes = plt.subplots(figsize=(4.5, 3.2), layout="constrained")
error = abs(curve[["low", "high"]].to_array() - curve["score"])
axes.errorbar(curve["factor"], curve["score"], yerr=error, marker="o", capsize=2)
axes.set_xscale("log", base=2)
axes.set_xlabel("factor on the weights before finetuning")
axes.set_ylabel("validation accuracy")
axes.set_title(f"{SAMPLES} images of two digits; 95 % intervals over seeds", fontsize="small")
figure.savefig(folder / "factor.png", dpi=150)


# 3. What did finetuning do to the features, without rescaling and with it?


def finetuned(factor, seed):
    network = build(seed)
    known = {name: tensor for name, tensor in start.state_dict().items() if not name.startswith("fc.")}
    network.load_state_dict(rescaled({**network.state_dict(), **known}, factor, "all"))
    finetune(network, seed)
    return network


def activations(network, path):
    everything = class_task(digits, PAIR)
    with record(network, LAYERS, path) as see:
        see(prepared.batch("train", everything.train), sample_id=everything.train)


activations(start, folder / "before.nc")
for factor in sorted({choice.factor, 1.0}):
    networks = [finetuned(factor, seed) for seed in range(100, 110)]
    accuracies = torch.tensor([accuracy(network, *test) for network in networks])
    activations(networks[0], folder / f"after_{factor:g}.nc")
    found = diagnose(folder / "before.nc", folder / f"after_{factor:g}.nc")
    error = accuracies.std() / len(networks) ** 0.5
    print(f"\nrescaled by {factor:g}: test accuracy {accuracies.mean():.3f}, standard error {error:.3f}")
    print(
        found[["participation_ratio_before", "participation_ratio_after", "ensd", "regime"]]
        .to_dataframe()
        .round(2)
        .to_string()
    )
