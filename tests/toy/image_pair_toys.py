"""Tiny shards of pairs of tasks on scikit-learn's digits for tests."""

from toy.shards import shard

TASK = {"pairs": 3, "estimator": ("least_squares", "cutoff_0.01")}


def pretrained(seeds=(0, 1), **told):
    return shard("image_pairs", "pretrain", seeds, **TASK | told)


def finetuned(start=None, seeds=(0, 1), **told):
    told = {**TASK, "samples": (6, 11), "draws": 3, "protocol": "finetuning" if start else "single_task", **told}
    return shard("image_pairs", "finetune", seeds, start, **told)
