"""Tiny diagonal networks of every protocol, for figures: trained once for all tests of a process."""

from functools import cache

from carryover.families.diagonal import parameters
from toy import shards
from toy.shards import shard

TASK = {"dimension": 12, "auxiliary_features": 4}
COARSE = {
    "initial_scale": (0.3,),
    "readout_scale": 0.3,
    "tolerance": 1e-3,
    "learning_rate": 0.05,
    "auxiliary_samples": 20,
}
SEEDS = [0, 1]


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


def finetuned(protocol, **told):
    start = shard("diagonal", "pretrain", SEEDS, **TASK, samples=20) if protocol in parameters.PRETRAINED else None
    return shard("diagonal", "finetune", SEEDS, start, **TASK, protocol=protocol, **told)


@cache
def _shards(experiment):
    jobs, told = EXPERIMENTS[experiment]
    return [finetuned(protocol, solver=solver, **told, **COARSE) for protocol, solver in jobs]


@cache
def measured(experiment, measure):
    return shards.measured("diagonal", measure, _shards(experiment))


@cache
def classifying():
    told = {"solver": "descent", "loss": "cross_entropy", "initial_scale": (0.5, 0.1), "learning_rate": 0.2}
    run = finetuned("single_task", samples=(6,), main_features=(2,), max_steps=400, **told)
    return shards.measured("diagonal", "trajectory", [run])


@cache
def endless():
    told = {"solver": "descent", "loss": "cross_entropy", "normalised": True, "max_steps": 2000, "tolerance": 1e-6}
    told |= {"samples": (6,), "main_features": (2,), "auxiliary_samples": 20, "initial_scale": (0.5, 0.1)}
    runs = [finetuned(protocol, **told) for protocol in ("single_task", "multi_task", "finetuning")]
    return shards.measured("diagonal", "trajectory", runs)
