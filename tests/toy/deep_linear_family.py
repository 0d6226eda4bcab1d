"""Runs of the family of deep linear networks, and what they see."""

from carryover.streams import generator
from toy.shards import shard as trained

D, SEEDS = 12, [0, 1, 2]


def pretrained(seeds=SEEDS, **told):
    return trained("deep_linear", "pretrain", seeds, experiment="e", dimension=D, **told)


def finetuned(protocol, seeds=SEEDS, shard=None, **told):
    if protocol != "single_task" and shard is None:
        shard = pretrained(depth=told.get("depth", (2,)))
    told = {"dimension": D, "samples": (5,), **told}
    return trained("deep_linear", "finetune", seeds, shard, experiment="e", protocol=protocol, **told)


def inputs(seed, samples):
    return generator("e", {"samples": samples}, seed, "inputs").standard_normal((samples, D))


def labels(run):
    seed, samples = int(run["seed"]), int(run["samples"])
    noise = generator("e", {"samples": samples}, seed, "noise").standard_normal(samples)
    return inputs(seed, samples) @ run["teacher"].values.astype(float) + float(run["noise"]) * noise
