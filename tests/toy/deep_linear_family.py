"""Runs of the family of deep linear networks, and what they see."""

from carryover.config.parameters import model_of
from carryover.families import stages
from carryover.families.deep_linear import exact, finetune, pretrain
from carryover.streams import generator

D, SEEDS = 12, [0, 1, 2]


def pretrained(seeds=SEEDS, **told):
    return stages.run(
        pretrain, model_of("families.deep_linear", "pretrain")(dimension=D, **told), "e", seeds, exact.solve
    )


def finetuned(protocol, seeds=SEEDS, shard=None, **told):
    p = model_of("families.deep_linear", "finetune")(dimension=D, protocol=protocol, **{"samples": (5,), **told})
    if protocol != "single_task" and shard is None:
        shard = pretrained(depth=told.get("depth", (2,)))
    return stages.run(finetune, p, "e", seeds, exact.solve, pretrained=shard)


def inputs(seed, samples):
    return generator("e", {"samples": samples}, seed, "inputs").standard_normal((samples, D))


def labels(run):
    seed, samples = int(run["seed"]), int(run["samples"])
    noise = generator("e", {"samples": samples}, seed, "noise").standard_normal(samples)
    return inputs(seed, samples) @ run["teacher"].values.astype(float) + float(run["noise"]) * noise
