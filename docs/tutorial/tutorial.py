"""Rescale, finetune, diagnose, forecast: a network of your own, on digits, in about a minute of one core.

    pip install -e .
    python docs/tutorial/tutorial.py my_folder

Every step is plain torch but for a few calls: `choose_factor`, `record`, `diagnose`, `forecast`.
"""

import sys
from collections import Counter
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import torch
import xarray as xr
from threadpoolctl import threadpool_limits
from torch.nn import functional as F
from torch.optim.swa_utils import update_bn

from carryover import choose_factor, diagnose, forecast, record
from carryover.diagnosis.rescaling import load_rescaled
from carryover.networks.convnet import ResNet18
from carryover.streams import generator
from carryover.tasks.image_tasks import PreparedImages, class_task, sample_task
from carryover.tasks.images import images

PAIR = (3, 8)  # the two digits of finetuning; the other eight are for pretraining
SAMPLES, VALIDATION = 8, 100  # labelled images of the pair
LAYERS = ["layer1", "layer2", "layer3"]
MEANS = [
    "participation_ratio_before",
    "participation_ratio_after",
    "kept_share",
    "kept_weighted",
    "task_before",
    "task_after",
]

# Batches are small: several threads take longer than one, and sum in another order from run to run.
torch.set_num_threads(1)
threadpool_limits(1)

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
    task = class_task(digits, [label for label in range(10) if label not in PAIR])
    network, order = build(0, classes=8), torch.Generator().manual_seed(0)

    def batches(epochs):
        for _ in range(epochs):
            for some in torch.randperm(len(task.train), generator=order).split(128):
                yield prepared.batch("train", task.train[some]), torch.from_numpy(task.train_labels[some])

    train(network, batches(epochs=6), learning_rate=0.05)
    return network


pair = class_task(digits, PAIR)
held_out = sample_task(pair, VALIDATION, generator("tutorial", "", 0, "validation"))
test = prepared.batch("test", pair.test), torch.from_numpy(pair.test_labels)
validation = prepared.batch("train", held_out.train), torch.from_numpy(held_out.train_labels)


def few(seed, samples=SAMPLES):
    """A few images that are not for validation, and their labels; another seed draws others."""
    left = ~torch.isin(torch.from_numpy(pair.train), torch.from_numpy(held_out.train)).numpy()
    drawn = sample_task(
        type(pair)(pair.classes, pair.train[left], pair.train_labels[left], pair.test, pair.test_labels),
        samples,
        generator("tutorial", "", seed, "samples"),
    )
    return prepared.batch("train", drawn.train), torch.from_numpy(drawn.train_labels)


def finetune(network, seed, rate=1.0):
    """Full batches; `rate` multiplies the learning rate."""
    train(network, [few(seed)] * 200, learning_rate=0.01 * rate, until=0.01)


def accuracy(network, pixels, labels):
    with torch.no_grad():
        return (network.eval()(pixels).argmax(1) == labels).double().mean().item()


# 2. By how much should the pretrained weights be rescaled? Validation decides, and fresh seeds check.

start = pretrained()
# Rescaling leaves the running statistics of normalisation as they were, wrong for the scaled weights: they are renewed.
choice = choose_factor(
    build,
    start.state_dict(),
    finetune,
    lambda network: accuracy(network, *validation),
    which="all",
    head="fc",
    renew_statistics=lambda seed: [few(seed)],
)
print(choice.sentence())

curve = choice.curve
figure, axes = plt.subplots(figsize=(4.5, 3.2), layout="constrained")
error = abs(curve[["low", "high"]].to_array().clip(0, 1) - curve["score"])  # no accuracy is above 1
axes.errorbar(curve["factor"], curve["score"], yerr=error, marker="o", capsize=2)
axes.set_xscale("log", base=2)
axes.set_xlabel("factor on the weights before finetuning")
axes.set_ylabel("validation accuracy")
axes.set_title(f"{SAMPLES} images of two digits; 95 % intervals over seeds", fontsize="small")
figure.savefig(folder / "factor.png", dpi=150)


# 3. What did finetuning do to the features, without rescaling and with it?


def finetuned(factor, seed):
    network = build(seed)
    load_rescaled(network, start.state_dict(), factor, "all", head="fc")
    update_bn([few(seed)], network)
    finetune(network, seed)
    return network


def activations(network, path=None):
    everything = class_task(digits, PAIR)
    with record(network, LAYERS, path) as see:
        see(prepared.batch("train", everything.train), sample_id=everything.train)
    return see.recording if path is None else path


before = activations(start, folder / "before.nc")
untrained = build(1, classes=8)  # for what networks share that were never trained
update_bn([prepared.batch("train", class_task(digits, PAIR).train)], untrained)  # else its deep layers hardly vary
unrelated = activations(untrained, folder / "unrelated.nc")
for factor in sorted({choice.factor, 1.0}):
    networks = [finetuned(factor, seed) for seed in range(100, 110)]
    accuracies = torch.tensor([accuracy(network, *test) for network in networks])
    error = accuracies.std() / len(networks) ** 0.5
    print(f"\nrescaled by {factor:g}: test accuracy {accuracies.mean():.3f}, standard error {error:.3f}")
    activations(networks[0], folder / f"after_{factor:g}.nc")  # for `carryover diagnose`, or another day
    labels = class_task(digits, PAIR).train_labels
    results = [diagnose(before, activations(network), baseline=unrelated, labels=labels) for network in networks]
    print(f"first network: {results[0].headline}")
    seeds = xr.concat(results, "seed")
    found = seeds[MEANS].mean("seed").to_dataframe().round(2)
    counts = [Counter(verdicts).most_common() for verdicts in seeds["regime"].values.T]
    found["verdicts"] = [", ".join(f"{number} {verdict}" for verdict, number in count) for count in counts]
    print(found.rename(columns=lambda name: name.replace("participation_ratio", "PR")).to_string())


# 4. Would pretraining help with more images? A forecast before any training, and what training then gives.

more = few(200, samples=100)
print(f"\nbefore training: {forecast(start, [more], arms=['probe', 'finetune', 'scratch']).headline}")
for name in ("finetuned", "from scratch"):
    accuracies = []
    for seed in range(5):
        network = build(seed)
        if name == "finetuned":
            load_rescaled(network, start.state_dict(), 1.0, "all", head="fc")
        train(network, [more] * 200, learning_rate=0.01, until=0.01)
        update_bn([more], network)  # running statistics lag behind so few steps
        accuracies.append(accuracy(network, *test))
    print(f"{name}: test accuracy {sum(accuracies) / 5:.3f}")
