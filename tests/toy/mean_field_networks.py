"""Tiny mean-field ReLU networks for the figures to draw, that the family trained."""

from functools import cache
from itertools import product

from carryover.config.parameters import model_of
from carryover.families import stages
from carryover.families.mean_field import exact, finetune, flow, pretrain
from carryover.labels import labelled
from carryover.measures import gram, out_of_rkhs, risk
from carryover.workflow.collecting import collect

SEEDS = [0, 1]
MEASURES = {"gram": (gram, {"points": 6, "samples": 40}), "out_of_rkhs": (out_of_rkhs, {})}
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
    source = stages.run(
        pretrain, model_of("families.mean_field", "pretrain")(**task, **told, **QUICK), "toy", SEEDS, flow.solve
    )
    sources = {"flow": source}
    if "anchor" in told:
        initial = model_of("families.mean_field", "pretrain")(
            **task, ablated=told["ablated"], solver="exact", max_time=30.0
        )
        sources["exact"] = stages.run(pretrain, initial, "toy", SEEDS, exact.solve)
    jobs = [("linear_transfer", exact, READOUTS), ("pretrained", exact, {}), ("single_task", flow, QUICK)]
    made = {}
    for (protocol, solver, more), features in product(jobs, sources):
        name = solver.__name__.rpartition(".")[2]
        p = model_of("families.mean_field", "finetune")(
            **task, protocol=protocol, solver=name, samples=(32, 64, 128), **more
        )
        start = None if protocol == "single_task" else sources[features]
        if start is not None or features == "flow":
            made[protocol, features] = stages.run(finetune, p, "toy", SEEDS, solver.solve, start)
    return made


@cache
def roles(plot):
    """The data of a plot, by role."""
    experiment = {"mean_field_transfer": "ablated", "mean_field_anchor": "anchored"}[plot]
    shards = _shards(experiment)
    found = {
        "risk": labelled(
            collect([risk.measure(shard, model_of("measures", "risk")()) for shard in shards.values()]), "mean_field"
        )
    }
    for name, (measure, told) in MEASURES.items():
        kept = [shard for (protocol, _), shard in shards.items() if protocol == "pretrained"]
        found[name] = labelled(
            collect([measure.measure(one, model_of(*measure.__name__.split(".")[1:])(**told)) for one in kept]),
            "mean_field",
        )
    return found
