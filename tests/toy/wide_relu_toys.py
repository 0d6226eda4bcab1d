"""Tiny shards of wide ReLU networks for tests."""

from toy import shards
from toy.shards import shard

TASK = {"dimension": 4, "width": 30, "initial_scale": 0.3, "max_steps": 200, "device": "cpu"}


def pretrained(seeds=(0, 1, 2), **told):
    return shard("wide_relu", "pretrain", seeds, **{**TASK, "samples": 40, **told})


def finetuned(start=None, seeds=(0, 1), **told):
    """Finetuned networks, or, without a start, networks from scratch."""
    told = {**TASK, "samples": (6,), "distance": (0.5,), **told}
    return shard("wide_relu", "finetune", seeds, start, protocol="finetuning" if start else "single_task", **told)


def followed(*arguments, **told):
    """The dataset of one number of samples, the problem that the solver is handed, and what it answers."""
    data, ((problem, trained),) = shards.followed(finetuned, *arguments, **told)
    return data, problem, trained
