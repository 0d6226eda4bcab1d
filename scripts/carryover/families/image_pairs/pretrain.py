"""Pretraining on all training images of a source task."""

from carryover.families.contract import Piece
from carryover.families.image_pairs import task


def problems(p, shard):
    """A piece for each seed and pair of tasks, with a run per cutoff: linear functions of least norm."""
    images, pairs = task.Images(p, shard.experiment), task.pairs(p, shard.experiment)
    for seed in shard.seeds:
        regressions = task.Regressions(images.split(seed))
        for number, four in enumerate(pairs):
            runs = {"seed": seed, **task.named(number, four), "cutoff": list(p.cutoff)}
            yield Piece(regressions.of(*four[:2]), runs, _variables, task.MEANING)


def _variables(trained):
    coefficients = trained.weights[:, None]
    return {"coefficients": (("run", "output", "input"), coefficients, "coefficients θ_S of the source task")}
