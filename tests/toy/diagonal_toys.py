"""Tiny diagonal networks for tests of their family: pretrained, finetuned, and the problems that solvers get."""

import importlib

import numpy as np

from carryover.config.parameters import model_of
from carryover.families import stages
from carryover.families.diagonal import finetune, pretrain
from carryover.training.result import Trained

TASK = {"dimension": 12, "auxiliary_features": 3}
COARSE = {"initial_scale": (0.3,), "readout_scale": 0.3, "tolerance": 1e-8, "learning_rate": 0.02}
WEIGHTS = ("first_plus", "first_minus", "second_plus", "second_minus")
PRETRAINED = ("finetuning", "finetuning_probe")


def solver(name):
    return importlib.import_module(f"carryover.families.diagonal.{name}").solve


def pretrained(seeds=(0, 1, 2), name="exact", **changes):
    p = model_of("families.diagonal", "pretrain")(
        **TASK, **{"samples": 20, "initial_scale": 0.1, "solver": name, **changes}
    )
    return stages.run(pretrain, p, "toy", list(seeds), solver(name))


def finetuned(start, protocol="finetuning", name="exact", seeds=(0, 1), solve=None, **changes):
    told = {"samples": (4,), "main_features": (2,), "overlap": (0.5,), "auxiliary_samples": 16, **changes}
    p = model_of("families.diagonal", "finetune")(**TASK, protocol=protocol, solver=name, **told)
    return stages.run(finetune, p, "toy", list(seeds), solve or solver(name), start if protocol in PRETRAINED else None)


def problems(start, **told):
    """The problems that the solver is handed, one per sample size."""
    handed = []

    def solve(problem, p, progress):
        handed.append(problem)
        return Trained.solved(problem.start, *np.zeros((2, len(problem.draw))))

    finetuned(start, solve=solve, **told)
    return handed


def weights(data, prefix=""):
    return {name: data[prefix + name].values for name in WEIGHTS}
