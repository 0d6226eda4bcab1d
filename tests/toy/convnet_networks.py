"""Tiny convolutional networks for the figures to draw, that the family trained, hardly at all."""

from functools import cache

from toy import shards

SEEDS = [0, 1]
TASK = {"network": "resnet18", "width": 1, "tasks": 2, "held_out_classes": 5, "device": "cpu"}
FACTORS = {"samples": (4, 8), "rescale": (0.5, 1.0)}
# {name: how its networks are trained, besides}
JOBS = {
    "finetuned": {**FACTORS},
    "scratch": {"protocol": "single_task", **FACTORS},
    "part": {"rescaled": "readout", "samples": (8,), "rescale": (0.5,)},
    "slower": {"learning_rate": 0.003, "samples": (8,), "rescale": (0.5, 1.0)},
    "kept": {"samples": (8,), "rescale": (0.5, 1.0), "keep_weights": True},
}


@cache
def _source():
    return shards.shard("convnet", "pretrain", SEEDS, **TASK, max_epochs=1)


@cache
def _shard(job):
    start = None if job == "scratch" else _source()
    return shards.shard("convnet", "finetune", SEEDS, start, **TASK, max_epochs=3, **JOBS[job])


@cache
def measured(measure, *jobs):
    """What a measure says of jobs, collected."""
    return shards.measured("convnet", measure, map(_shard, jobs))


def roles(plot):
    """The data of a plot, by role."""
    controls = ("finetuned", "scratch", "part", "slower")
    if plot == "convnet_rescaling":
        return {"pairs": measured("risk", "finetuned", "scratch"), "controls": measured("risk", *controls)}
    if plot == "convnet_controls":
        return {"risk": measured("risk", *controls), "trajectory": measured("trajectory", *controls)}
    return {"stages": measured("stages", "kept"), "risk": measured("risk", "kept")}
