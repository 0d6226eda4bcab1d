"""Tiny mean-field ReLU networks for the figures to draw, that the family trained."""

from functools import cache

from carryover.families import running
from carryover.families.mean_field import descent, exact, finetune, pretrain
from carryover.measures import gram, out_of_rkhs, risk
from carryover.workflow.coordinate_labels import named
from collect import collect

SEEDS = [0, 1]
MEASURES = {"gram": (gram, {"points": 6, "samples": 40}), "out_of_rkhs": (out_of_rkhs, {})}
QUICK = {"learning_rate": 0.5, "max_steps": 60}
# {experiment: what its pretraining and its teacher are told}
EXPERIMENTS = {
    "ablated": ({"ablated": (0.0, 0.5)}, (0.1, 1.0)),
    "anchored": ({"ablated": (0.5,), "anchor": (0.0, 0.01, 0.1)}, (1.0,)),
}


@cache
def _shards(experiment):
    told, scales = EXPERIMENTS[experiment]
    task = {"dimension": 4, "width": 10, "teacher_units": 4, "teacher_scale": scales}
    source = running.run(pretrain, pretrain.Parameters(**task, **told, **QUICK), "toy", SEEDS, descent.solve)
    jobs = [("linear_transfer", exact, {}), ("pretrained", exact, {}), ("single_task", descent, QUICK)]
    made = {}
    for protocol, solver, more in jobs:
        name = solver.__name__.rpartition(".")[2]
        p = finetune.Parameters(**task, protocol=protocol, solver=name, samples=(8, 16, 32), **more)
        start = None if protocol == "single_task" else source
        made[protocol] = running.run(finetune, p, "toy", SEEDS, solver.solve, start)
    return made


@cache
def roles(plot):
    """The data of a plot, by role."""
    experiment = {"mean_field_transfer": "ablated", "mean_field_anchor": "anchored"}[plot]
    shards = _shards(experiment)
    found = {
        "risk": named(collect([risk.measure(shard, risk.Parameters()) for shard in shards.values()]), "mean_field")
    }
    for name, (measure, told) in MEASURES.items():
        found[name] = named(collect([measure.measure(shards["pretrained"], measure.Parameters(**told))]), "mean_field")
    return found
