"""Measures of tiny ReLU networks, which the family itself trained, for the figures to draw."""

from functools import cache

from carryover.families.relu import parameters
from toy import shards

SEEDS = [0, 1]
TASK = {"dimension": 5, "width": 16, "auxiliary_features": 2}
QUICK = {"learning_rate": 0.3, "batch_size": 0, "tolerance": 1e-3, "max_epochs": 60}
OPTIONS = {"clusters": {"largest_k": 5}, "dimensionality": {"samples": 50}}
SIZES = (4, 8)
NESTED = {"main_features": (1, 2), "overlap": (0.0, 1.0)}
COSINES = {"main_features": (2,), "unit_correlations": ("0 0", "1 0", "1 1")}
# {experiment: [what each of its shards is told]}
SHARDS = {
    "regimes": [
        {"protocol": "single_task", "initial_scale": (scale,), "main_features": (2, 9), "overlap": (0.0,)}
        for scale in (0.01, 1.0)
    ],
    "overlap": [
        {"protocol": protocol, **COSINES}
        for protocol in ("single_task", "finetuning", "multi_task", "finetuning_kernel")
    ],
    "nested": [
        {"protocol": "single_task", "rescale": (0.5, 1.0), **NESTED},
        {"protocol": "finetuning", "rescale": (0.5, 1.0), **NESTED},
        {"protocol": "multi_task", **NESTED},
    ],
    "magnitude": [
        {"protocol": protocol, "correlation": (0.8, 1.0), "magnitude": (0.1, 1.0), "main_features": (2,)}
        for protocol in ("single_task", "finetuning")
    ],
}
SHARDS["random_signs"] = [SHARDS["regimes"][0] | {"signs": "random", "main_features": (2,)}]
SHARDS["random_signs_tuned"] = [
    told | {"signs": "random", "samples": SIZES[:1], "unit_correlations": ("0 0", "1 0")}
    for told in SHARDS["overlap"][1:3]
]
SHARDS["spread"] = [SHARDS["magnitude"][1] | {"samples": (3, 4), "keep_samples": True, "angular_noise": 0.1}]
SHARDS["few"] = [told | {"samples": (3, 4), "keep_samples": True} for told in SHARDS["magnitude"]]


@cache
def _pretrained():
    return shards.shard("relu", "pretrain", SEEDS, **TASK, **QUICK, samples=30)


def _shard(told):
    trained = told["protocol"] in parameters.WHOLE["protocol"] or told["protocol"] == "multi_task"
    solver = "descent" if trained else "ridge"
    frames = {"directions": "frames"} if max(told["main_features"]) > TASK["dimension"] else {}
    told = {"samples": SIZES, "solver": solver, "auxiliary_samples": 30} | told
    start = _pretrained() if told["protocol"] in parameters.PRETRAINED else None
    return shards.shard("relu", "finetune", SEEDS, start, **TASK, **QUICK, **frames, **told)


@cache
def _shards(experiment):
    return [_shard(told) for told in SHARDS[experiment]]


@cache
def measured(experiment, measure):
    """The collected dataset of a measure over the networks of an experiment."""
    made = _shards(experiment)
    if measure == "displacement":
        made = [shard for shard in made if shard["protocol"].values[0] == "finetuning"]
    return shards.measured("relu", measure, made, **OPTIONS.get(measure, {}))
