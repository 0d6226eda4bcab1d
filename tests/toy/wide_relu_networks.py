"""Tiny wide ReLU networks for the figures to draw, that the family trained."""

from functools import cache

from carryover.config.parameters import model_of
from carryover.families import stages
from carryover.families.wide_relu import exact, finetune, flow, pretrain
from carryover.labels import labelled
from carryover.measures import ntk_bound
from carryover.workflow.collecting import collect

SEEDS = [0, 1, 2]
TASK = {"dimension": 4, "width": 40, "initial_scale": 0.3}
QUICK = {"max_steps": 100, "device": "cpu"}


@cache
def roles(plot):
    """The data of a plot, by role."""
    assert plot == "ntk_bound"
    source = stages.run(
        pretrain, model_of("families.wide_relu", "pretrain")(**TASK, **QUICK, samples=40), "toy", SEEDS, flow.solve
    )
    shards = []
    for protocol, start in (("single_task", None), ("finetuning", source)):
        for name, module in (("flow", flow), ("exact", exact)):
            p = model_of("families.wide_relu", "finetune")(
                **TASK, **QUICK, protocol=protocol, solver=name, samples=(2, 8), distance=(0.25, 1.5), test_samples=60
            )
            shards.append(stages.run(finetune, p, "toy", SEEDS, module.solve, start))
    return {
        "bound": labelled(
            collect([ntk_bound.measure(shard, model_of("measures", "ntk_bound")()) for shard in shards]), "wide_relu"
        )
    }
