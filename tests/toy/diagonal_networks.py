"""Tiny diagonal networks of every protocol, for figures: trained once for all tests of a process."""

import importlib
from functools import cache

from carryover.config.parameters import model_of
from carryover.families import stages
from carryover.families.diagonal import finetune, parameters, pretrain
from carryover.labels import labelled
from carryover.measures import trajectory
from carryover.workflow.collecting import collect

TASK = {"dimension": 12, "auxiliary_features": 4}
COARSE = {
    "initial_scale": (0.3,),
    "readout_scale": 0.3,
    "tolerance": 1e-3,
    "learning_rate": 0.05,
    "auxiliary_samples": 20,
}
SEEDS = [0, 1]


def solver(name):
    return importlib.import_module(f"carryover.families.diagonal.{name}").solve


PROTOCOLS = tuple((p, "flow" if p == "multi_task" else "exact") for p in parameters.PROTOCOLS)
# {experiment: (jobs as (protocol, solver), what they have in common)}
EXPERIMENTS = {
    "overlapping": (PROTOCOLS, {"samples": (3, 4, 6, 8), "main_features": (2,), "overlap": (0.0, 0.5, 1.0)}),
    "nested": (
        [("single_task", "exact"), ("finetuning", "exact")],
        {"samples": (3, 6), "main_features": (1, 2), "overlap": (0.0, 1.0), "rescale": (1.0, 0.1)},
    ),
    "agreeing": (
        [(p, s) for p in ("single_task", "finetuning") for s in ("exact", "flow", "descent", "symmetric")],
        {"samples": (3, 4), "main_features": (2,), "overlap": (0.0, 1.0)},
    ),
}


@cache
def shards(experiment):
    jobs, told = EXPERIMENTS[experiment]
    pretrained = stages.run(
        pretrain, model_of("families.diagonal", "pretrain")(**TASK, samples=20), "toy", SEEDS, solver("exact")
    )
    made = []
    for protocol, name in jobs:
        p = model_of("families.diagonal", "finetune")(**TASK, protocol=protocol, solver=name, **told, **COARSE)
        start = pretrained if protocol in parameters.PRETRAINED else None
        made.append(stages.run(finetune, p, "toy", SEEDS, solver(name), start))
    return made


@cache
def measured(experiment, measure):
    return labelled(
        collect([measure.measure(shard, model_of(*measure.__name__.split(".")[1:])()) for shard in shards(experiment)]),
        "diagonal",
    )


@cache
def classifying():
    told = {"protocol": "single_task", "solver": "descent", "loss": "cross_entropy", "initial_scale": (0.5, 0.1)}
    sizes = {"samples": (6,), "main_features": (2,), "learning_rate": 0.2, "max_steps": 400}
    run = stages.run(
        finetune, model_of("families.diagonal", "finetune")(**TASK, **told, **sizes), "toy", SEEDS, solver("descent")
    )
    return labelled(collect([trajectory.measure(run, model_of("measures", "trajectory")())]), "diagonal")


@cache
def endless():
    start = stages.run(
        pretrain, model_of("families.diagonal", "pretrain")(**TASK, samples=20), "toy", SEEDS, solver("exact")
    )
    told = {"solver": "descent", "loss": "cross_entropy", "normalised": True, "max_steps": 2000, "tolerance": 1e-6}
    sizes = {"samples": (6,), "main_features": (2,), "auxiliary_samples": 20, "initial_scale": (0.5, 0.1)}
    runs = [
        stages.run(finetune, p, "toy", SEEDS, solver("descent"), start if p.protocol == "finetuning" else None)
        for p in (
            model_of("families.diagonal", "finetune")(**TASK, **told, **sizes, protocol=protocol)
            for protocol in ("single_task", "multi_task", "finetuning")
        )
    ]
    return labelled(
        collect([trajectory.measure(run, model_of("measures", "trajectory")()) for run in runs]), "diagonal"
    )
