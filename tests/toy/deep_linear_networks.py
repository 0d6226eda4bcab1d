"""Deep linear networks for the figures to draw: tiny ones that the family solved and trained, and their theory."""

from functools import cache

from carryover.config import plugins
from carryover.config.plugins import model_of
from carryover.theory.curves import linear_teachers, linear_transfer
from toy import shards

SEEDS = [0, 1, 2]
QUICK = {"learning_rate": 0.05, "tolerance": 1e-10, "max_steps": 3000}
ALL = ("single_task", "linear_transfer", "finetuning")
PENALTIES = (0.0, 1e-3, 1e-2, 1e-1, 1.0)
# {experiment: (dimension, depth, solver of pretraining, [(protocols, solver, what these shards are told)], in common)}
EXPERIMENTS = {
    "diagram": (
        20, (2,), "exact", [(ALL, "exact", {})],
        {"samples": (5, 10, 15, 30), "angle": (0.125, 0.25, 0.375, 0.5), "noise": (0.0, 0.2)},
    ),
    "depth": (
        20, (1, 2), "exact",
        [(("single_task", "finetuning"), "exact", {"angle": (0.25, 0.5)}),
         (("finetuning",), "descent", {"angle": (0.5,), **QUICK})],
        {"samples": (5, 10), "noise": (0.3, 1.0)},
    ),
    "agreement": (
        6, (2,), "descent",
        [(ALL, "exact", {}), (ALL, "descent", QUICK), (("single_task", "finetuning"), "balanced", {"tolerance": 1e-9})],
        {"samples": (3, 12)},
    ),
    "decay": (
        20, (2,), "exact",
        [(("single_task",), "exact", {"weight_decay": (0.0, 1e-2, 1e-1), "folds": 5}),
         (("linear_transfer",), "exact", {})],
        {"samples": (10, 15, 20, 30), "angle": (0.125, 0.25, 0.5)},
    ),
    "ridge": (
        20, (2,), "exact", [(("linear_transfer",), "exact", {"ridge": PENALTIES})],
        {"samples": (10, 30), "angle": (0.125, 0.375)},
    ),
    "targets": (
        20, (2,), "exact", [(ALL, "exact", {})],
        {"samples": (10,), "angle": (0.0, 0.25, 0.5, 0.75, 1.0), "target_norm": (0.5, 1.0)},
    ),
    "stretched": (
        10, (1, 2, 3), "exact", [(("finetuning",), "exact", {}), (("finetuning",), "descent", QUICK)],
        {"samples": (3, 6), "noise": (0.0,), "relation": "stretch", "stretch": (1.0, 2.0)},
    ),
    "scale": (
        20, (1, 7), "exact", [(("finetuning",), "exact", {})],
        {"source_norm": (1.0, 4.0), "target_norm": (1.0, 4.0), "samples": (5, 10), "noise": (0.0,)},
    ),
    "frozen": (
        8, (2,), "exact", [(ALL, "exact", {}), (("finetuning", "linear_transfer"), "descent", QUICK)],
        {"samples": (3, 10), "noise": (0.0,)},
    ),
    "frozen larger": (
        8, (2,), "descent",
        [(("linear_transfer",), "exact", {}), (("finetuning", "linear_transfer"), "descent", QUICK)],
        {"samples": (3, 10), "noise": (0.0,)},
    ),
    "frozen layers": (
        8, (3,), "exact",
        [(("single_task", "finetuning"), "exact", {}), (("linear_transfer",), "exact", {"trained_layers": (1, 2)}),
         (("linear_transfer",), "descent", {"trained_layers": (1, 2), **QUICK})],
        {"samples": (3, 10), "noise": (0.0,)},
    ),
}  # fmt: skip


@cache
def _shards(experiment):
    dimension, depth, solver, jobs, common = EXPERIMENTS[experiment]
    task = {"dimension": dimension, "depth": depth, "precision": "float64"}
    told = QUICK if solver == "descent" else {}
    told |= {name: values for name, values in common.items() if name == "source_norm"}
    source = shards.shard("deep_linear", "pretrain", SEEDS, **task, solver=solver, **told)
    made = []
    for protocols, name, more in jobs:
        for protocol in protocols:
            start = None if protocol == "single_task" else source
            asked = {**task, "protocol": protocol, "solver": name, **common, **more}
            made.append(shards.shard("deep_linear", "finetune", SEEDS, start, **asked))
    return made


@cache
def measured(*experiments, measure="risk"):
    """The collected dataset of a measure over the networks of experiments."""
    return shards.measured("deep_linear", measure, [one for name in experiments for one in _shards(name)])


@cache
def theory():
    """Transferability over a grid that has the noises and depths of the experiments, and angles between theirs."""
    p = model_of("theory.curves", "transferability")(noise=(0.0, 0.2, 0.3, 1.0), depth=(1, 2), angles=9, points=16)
    return linear_transfer.transferability(p)


@cache
def distances():
    angle, norm = (EXPERIMENTS["targets"][-1][name] for name in ("angle", "target_norm"))
    return linear_transfer.transfer_distances(
        model_of("theory.curves", "transfer_distances")(angle=angle, target_norm=norm, depth=2, samples=12, repeats=2)
    )


@cache
def bound():
    return plugins.call("theory.curves", "covariance_bound", instances=200)


@cache
def gaussian():
    return linear_teachers.gaussian_bounds(
        model_of("theory.curves", "gaussian_bounds")(dimension=(8, 16), gamma=(0.25, 0.5), draws=30)
    )


ROLES = {
    "frozen_layer": lambda: {"risk": measured("frozen", "frozen larger"), "layers": measured("frozen layers")},
    "gaussian_bounds": lambda: {"curve": gaussian()},
    "covariance_bound": lambda: {"curve": bound()},
    "norm_scale": lambda: {"risk": measured("scale")},
    "transfer_diagram": lambda: {"risk": measured("diagram"), "theory": theory()},
    "norm_factor": lambda: {"risk": measured("depth"), "theory": theory()},
    "ridge_transfer": lambda: {"risk": measured("ridge")},
    "regularised_scratch": lambda: {"risk": measured("decay")},
    "dataset_distances": lambda: {
        "diagram": measured("diagram"),
        "risk": measured("targets"),
        "distances": distances(),
    },
    "linear_agreement": lambda: {
        "coefficients": measured("agreement", measure="coefficients"),
        "risk": measured("agreement"),
        "depth_coefficients": measured("stretched", measure="coefficients"),
        "depth_risk": measured("stretched"),
    },
}


def roles(plot):
    """The data of a plot, by role."""
    return ROLES[plot]()
