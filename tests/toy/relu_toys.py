"""Tiny shards of ReLU networks for tests."""

import importlib

import numpy as np

from carryover.config.parameters import model_of
from carryover.families import stages
from carryover.families.relu import finetune, parameters, pretrain
from carryover.training.result import Trained

TASK = {"dimension": 7, "width": 9, "auxiliary_features": 3}
FITTED = ("single_task_probe", "single_task_kernel", "finetuning_probe", "finetuning_kernel")
TRAINED = ("single_task", "multi_task", "finetuning")
QUICK = {"learning_rate": 0.1, "max_epochs": 30, "device": "cpu"}


def solver(name):
    return importlib.import_module(f"carryover.families.relu.{name}").solve


def pretrained(seeds=(0, 1, 2), solve=None, **told):
    p = model_of("families.relu", "pretrain")(**{**TASK, **QUICK, "samples": 20, "initial_scale": 0.5, **told})
    return stages.run(pretrain, p, "toy", list(seeds), solve or solver("descent"))


def finetuned(start, protocol="finetuning", seeds=(0, 1), solve=None, **told):
    name = "ridge" if protocol in FITTED else "descent"
    shared = {"samples": (4,), "main_features": (2,), "overlap": (0.5,), "auxiliary_samples": 12, "batch_size": 0}
    p = model_of("families.relu", "finetune")(
        **{**TASK, **QUICK, "solver": name, **shared, "protocol": protocol, **told}
    )
    return stages.run(
        finetune, p, "toy", list(seeds), solve or solver(p.solver), start if protocol in parameters.PRETRAINED else None
    )


def untrained(problem):
    """What a solver gives that does nothing."""
    curve = np.full((len(problem.sets), 1), np.nan)
    same = dict.fromkeys(("loss", "evaluations", "converged", "risk_final", "risk_best"), curve[:, 0])
    return Trained(weights=problem.start, time=curve, curves={}, **same | {"converged": curve[:, 0] == 0})


def problems(start=None, run=finetuned, **told):
    """The problems that the solver is handed, one per sample size."""
    handed = []

    def solve(problem, p, progress):
        handed.append(problem)
        return untrained(problem)

    run(*([start] if run is finetuned else []), solve=solve, **told)
    return handed
