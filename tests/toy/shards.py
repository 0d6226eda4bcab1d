"""Shards of a family: what a job trains, in memory, with parameters by name."""

from unittest.mock import patch

from carryover.config import plugins
from carryover.config.plugins import model_of
from carryover.families import stages
from carryover.labels import attach_labels
from carryover.workflow.collecting import collect


def shard(family, stage, seeds, start=None, *, experiment="toy", **told):
    """The dataset of a stage."""
    return stages.run(model_of(f"families.{family}", stage)(**told), experiment, list(seeds), start)


def followed(make, *arguments, **told):
    """What `make` makes with these arguments, and (problem, what its solver answers) of every batch."""
    seen, solver = [], stages.solver

    def watched(p):
        def solve(problem, p):
            seen.append((problem, solver(p)(problem, p)))
            return seen[-1][1]

        return solve

    with patch.object(stages, "solver", watched):
        return make(*arguments, **told), seen


def measured(family, measure, shards, **told):
    """The collected dataset of a measure, by its name."""
    return attach_labels(collect([plugins.call("measures", measure, one, **told) for one in shards]), family)
