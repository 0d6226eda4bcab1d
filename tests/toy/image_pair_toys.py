"""Tiny shards of pairs of tasks on scikit-learn's digits for tests."""

from carryover.config.parameters import model_of
from carryover.families import stages
from carryover.families.image_pairs import exact, finetune, pretrain

TASK = {"pairs": 3, "cutoff": (0.0, 0.01)}


def pretrained(seeds=(0, 1), experiment="toy", **told):
    return stages.run(
        pretrain, model_of("families.image_pairs", "pretrain")(**{**TASK, **told}), experiment, list(seeds), exact.solve
    )


def finetuned(start=None, seeds=(0, 1), solve=exact.solve, experiment="toy", **told):
    protocol = "single_task" if start is None else "finetuning"
    p = model_of("families.image_pairs", "finetune")(
        **{**TASK, "samples": (6, 11), "draws": 3, "protocol": protocol, **told}
    )
    return stages.run(finetune, p, experiment, list(seeds), solve, start)


def followed(start=None, **told):
    """The dataset and, in order, the problems that the solver was handed."""
    kept = []

    def solve(problem, p, progress):
        kept.append(problem)
        return exact.solve(problem, p, progress)

    return finetuned(start, solve=solve, **told), kept
