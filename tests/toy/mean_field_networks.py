"""Tiny mean-field ReLU networks for the figures to draw, that the family trained."""

from functools import cache
from itertools import product

from toy import shards

SEEDS = [0, 1]
MEASURES = {"gram": {"samples": 40}, "rkhs_residual": {}}
QUICK = {"max_steps": 200}
READOUTS = {"readout": ("zero", "pretrained", "least_squares"), "max_time": (3.0, 30.0)}
# {experiment: what its pretraining and its teacher are told}
EXPERIMENTS = {
    "ablated": ({"ablated": (0.0, 0.5)}, (0.1, 1.0)),
    "anchored": ({"ablated": (0.5,), "anchor": (0.0, 0.01, 0.1)}, (1.0,)),
}


@cache
def _shards(experiment):
    told, scales = EXPERIMENTS[experiment]
    task = {"dimension": 4, "width": 10, "teacher_units": 4, "teacher_scale": scales}
    sources = {"flow": shards.shard("mean_field", "pretrain", SEEDS, **task, **told, **QUICK)}
    if "anchor" in told:
        initial = {**task, "ablated": told["ablated"], "solver": "exact", "max_time": 30.0}
        sources["exact"] = shards.shard("mean_field", "pretrain", SEEDS, **initial)
    jobs = [("linear_transfer", "exact", READOUTS), ("pretrained", "exact", {}), ("single_task", "flow", QUICK)]
    made = {}
    for (protocol, solver, more), features in product(jobs, sources):
        asked = {**task, "protocol": protocol, "solver": solver, "samples": (32, 64, 128), **more}
        start = None if protocol == "single_task" else sources[features]
        if start is not None or features == "flow":
            made[protocol, features] = shards.shard("mean_field", "finetune", SEEDS, start, **asked)
    return made


@cache
def roles(plot):
    """The data of a plot, by role."""
    made = _shards({"mean_field_transfer": "ablated", "mean_field_anchor": "anchored"}[plot])
    kept = [shard for (protocol, _), shard in made.items() if protocol == "pretrained"]
    found = {"risk": shards.measured("mean_field", "risk", made.values())}
    return found | {name: shards.measured("mean_field", name, kept, **told) for name, told in MEASURES.items()}
