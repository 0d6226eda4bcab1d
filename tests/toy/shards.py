"""Shards of a family: what a job trains, in memory, with parameters by name."""

from carryover.config.parameters import model_of
from carryover.families import stages
from carryover.labels import labelled
from carryover.workflow.collecting import collect


def shard(family, stage, seeds, start=None, *, experiment="toy", solve=None, **told):
    """The dataset of a stage."""
    return stages.run(model_of(f"families.{family}", stage)(**told), experiment, list(seeds), start, solve=solve)


def followed(make, *arguments, **told):
    """What `make` makes with these arguments, and (problem, what its solver answers) of every piece."""
    seen = []

    def solve(problem, p):
        seen.append((problem, stages.solver(p)(problem, p)))
        return seen[-1][1]

    return make(*arguments, solve=solve, **told), seen


def measured(family, measure, shards, **told):
    """The collected dataset of a measure."""
    p = model_of(*measure.__name__.split(".")[1:])(**told)
    return labelled(collect([measure.measure(one, p) for one in shards]), family)
