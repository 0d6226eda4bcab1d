"""Tiny shards of mean-field ReLU networks for tests."""

import importlib

from carryover.config.parameters import model_of
from carryover.families import stages
from carryover.families.mean_field import finetune, parameters, pretrain

TASK = {"dimension": 4, "width": 12, "teacher_units": 4, "teacher_scale": (2.0,)}
QUICK = {"max_steps": 400, "device": "cpu"}


def solver(name):
    return importlib.import_module(f"carryover.families.mean_field.{name}").solve


def pretrained(seeds=(0, 1, 2), experiment="toy", **told):
    p = model_of("families.mean_field", "pretrain")(**{**TASK, **QUICK, "ablated": (0.25, 0.5), **told})
    return stages.run(pretrain, p, experiment, list(seeds), solver(p.solver))


def finetuned(start=None, protocol="linear_transfer", seeds=(0, 1), solve=None, experiment="toy", **told):
    name = parameters.SOLVERS[protocol][0]
    p = model_of("families.mean_field", "finetune")(
        **{**TASK, **QUICK, "solver": name, "samples": (6,), "protocol": protocol, **told}
    )
    return stages.run(finetune, p, experiment, list(seeds), solve or solver(p.solver), start)


def followed(start=None, protocol="linear_transfer", **told):
    """The dataset of one number of samples, the problem that the solver is handed, and what it answers."""
    kept = []

    def solve(problem, p, progress):
        kept.extend([problem, solver(p.solver)(problem, p, progress)])
        return kept[1]

    return finetuned(start, protocol, solve=solve, **told), *kept
