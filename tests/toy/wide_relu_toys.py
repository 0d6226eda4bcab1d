"""Tiny shards of wide ReLU networks for tests."""

import importlib

from carryover.config.parameters import model_of
from carryover.families import stages
from carryover.families.wide_relu import finetune, pretrain

TASK = {"dimension": 4, "width": 30, "initial_scale": 0.3}
QUICK = {"max_steps": 200, "device": "cpu"}


def solver(name):
    return importlib.import_module(f"carryover.families.wide_relu.{name}").solve


def pretrained(seeds=(0, 1, 2), experiment="toy", **told):
    p = model_of("families.wide_relu", "pretrain")(**{**TASK, **QUICK, "samples": 40, **told})
    return stages.run(pretrain, p, experiment, list(seeds), solver(p.solver))


def finetuned(start=None, seeds=(0, 1), solve=None, experiment="toy", **told):
    """Finetuned networks, or, without a start, networks from scratch."""
    told = {**TASK, **QUICK, "samples": (6,), "distance": (0.5,), "test_samples": 50, **told}
    p = model_of("families.wide_relu", "finetune")(protocol="single_task" if start is None else "finetuning", **told)
    return stages.run(finetune, p, experiment, list(seeds), solve or solver(p.solver), start)


def followed(start=None, **told):
    """The dataset of one number of samples, the problem that the solver is handed, and what it answers."""
    kept = []

    def solve(problem, p, progress):
        kept.extend([problem, solver(p.solver)(problem, p, progress)])
        return kept[1]

    return finetuned(start, solve=solve, **told), *kept
