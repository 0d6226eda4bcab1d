"""Tiny convolutional networks for the figures to draw, that the family trained, hardly at all."""

from functools import cache

from carryover.config.parameters import model_of
from carryover.families import stages
from carryover.families.convnet import descent, finetune, parameters, pretrain
from carryover.labels import labelled
from carryover.measures import risk, trajectory
from carryover.measures import stages as stage_dimensions
from carryover.workflow.collecting import collect

SEEDS = [0, 1]
TASK = {"network": "resnet18", "width": 1, "tasks": 2, "left_out": 5, "device": "cpu"}
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
    return stages.run(
        pretrain, model_of("families.convnet", "pretrain")(**TASK, max_epochs=1), "toy", SEEDS, descent.solve
    )


@cache
def _shard(job):
    p = model_of("families.convnet", "finetune")(**TASK, max_epochs=3, **JOBS[job])
    start = _source() if p.protocol in parameters.PRETRAINED else None
    return stages.run(finetune, p, "toy", SEEDS, descent.solve, start)


@cache
def measured(measure, *jobs):
    """What a measure says of jobs, collected."""
    return labelled(
        collect([measure.measure(_shard(job), model_of(*measure.__name__.split(".")[1:])()) for job in jobs]), "convnet"
    )


def roles(plot):
    """The data of a plot, by role."""
    controls = ("finetuned", "scratch", "part", "slower")
    if plot == "convnet_rescaling":
        return {"pairs": measured(risk, "finetuned", "scratch"), "controls": measured(risk, *controls)}
    if plot == "convnet_controls":
        return {"risk": measured(risk, *controls), "trajectory": measured(trajectory, *controls)}
    return {"stages": measured(stage_dimensions, "kept"), "risk": measured(risk, "kept")}
