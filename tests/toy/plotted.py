"""Tiny data for every plot, as the families make them."""

from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from carryover.analysis.replay import RUN
from carryover.config import plugins
from toy import (
    convnet_networks,
    convnet_runs,
    deep_linear_networks,
    diagonal_toys,
    image_pair_toys,
    mean_field_networks,
    relu_toys,
    shards,
    wide_relu_toys,
)
from toy.atlas_runs import mapped
from toy.diagonal_networks import SEEDS, classifying, endless, measured
from toy.forecast_runs import transferred
from toy.relu_networks import measured as measured_relu

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = ROOT / "resources/published"
TABLE = PUBLISHED / "feature-reuse-seeds.csv"


@cache
def relu_by_flow_and_descent():
    start = relu_toys.pretrained(seeds=SEEDS)
    told = {"seeds": SEEDS, "samples": (4, 8), "tolerance": 1e-2, "max_epochs": 2000}
    runs = [
        relu_toys.finetuned(start, protocol, initial_scale=(0.5,), readout_scale=0.5, **told, **how)
        for protocol in ("single_task", "finetuning")
        for how in ({"solver": "flow"}, *({"solver": "descent", "learning_rate": rate} for rate in (0.1, 0.02)))
    ]
    return shards.measured("relu", "risk", runs)


@cache
def scaled_layers():
    """Diagonal and ReLU networks from layers of several sizes, and the curves beside them."""
    small = {"dimension": 12, "auxiliary_features": 4, "few": 2, "samples": (4,), "points": 3}
    starts = [diagonal_toys.pretrained(SEEDS, initial_scale=scale, balance=balance)
              for scale in (0.05, 0.5) for balance in (-0.98, 0.0)]  # fmt: skip
    told = {"main_features": (2,), "overlap": (0.0, 0.5, 1.0), "seeds": SEEDS}
    runs = [diagonal_toys.finetuned(start, **told) for start in starts]
    starts = [relu_toys.pretrained(SEEDS, layer_ratio=ratio) for ratio in (0.1, 1.0)]
    told = {"main_features": (1, 2), "overlap": (0.0, 1.0), "samples": (4, 8), "seeds": SEEDS}
    return {
        "curve": plugins.call("theory.curves", "layer_scales", **small),
        "risk": shards.measured("diagonal", "risk", runs),
        "relu": shards.measured("relu", "risk", [relu_toys.finetuned(start, **told) for start in starts]),
    }


@cache
def image_pairs():
    seeds, told = [0, 1, 2], {"pairs": 5, "samples": (10, 20), "draws": 2}
    starts = image_pair_toys.pretrained(seeds, pairs=5), None
    return shards.measured(
        "image_pairs", "bounds", [image_pair_toys.finetuned(start, seeds, **told) for start in starts]
    )


@cache
def wide_relu():
    seeds, small = [0, 1, 2], {"width": 40, "max_steps": 100}
    told = {**small, "samples": (2, 8), "distance": (0.25, 1.5)}
    starts = None, wide_relu_toys.pretrained(seeds, **small)
    made = [
        wide_relu_toys.finetuned(start, seeds, **told, solver=solver)
        for start in starts
        for solver in ("flow", "exact")
    ]
    return shards.measured("wide_relu", "ntk_bound", made)


def replayed():
    """Published runs whose replays found their risks, or, of finetuned networks, twice these."""
    rows = pd.read_csv(TABLE).query("published == 'relu_nested' and protocol in ('single_task', 'finetuning')")
    risks = rows["risk"] * np.where(rows["protocol"] == "finetuning", 2.0, 1.0)
    columns = {name: ("run", rows[name].to_numpy()) for name in RUN}
    return xr.Dataset({"risk_best": ("run", risks), "finished": ("run", np.ones(len(rows), int))}, columns)


def fitted(experiment):
    """Penalties of networks as if all had learned their samples."""
    data = measured_relu(experiment, "least_penalty")
    return data.assign(unfitted=0 * data["unfitted"])


def relu(measure, *experiments):
    return {experiment: measured_relu(experiment, measure) for experiment in experiments}


# {plot: function that makes its data by role}
ROLES = {
    "atlas": lambda: {"one": mapped(), "other": mapped()},
    "bound_correlations": lambda: {
        "bounds": image_pairs(), "published": pd.read_csv(PUBLISHED / "linear-teachers-table1.csv"),
    },
    "clusters": lambda: relu("clusters", "regimes", "overlap", "nested"),
    "convnet_accuracies": lambda: {"theirs": pd.read_csv(PUBLISHED / "cifar100-accuracy.csv")},
    "convnet_dimensions": lambda: {"theirs": pd.read_csv(PUBLISHED / "cifar100-dimensions.csv")},
    "convnet_factors": lambda: {"theirs": pd.read_csv(PUBLISHED / "cifar100-accuracy.csv")},
    "cross_entropy": lambda: {"diagonal": classifying(), "relu": classifying()},
    "diagonal_solutions": lambda: {
        "norms": measured("overlapping", "norms"), "sparsity": measured("overlapping", "sparsity"),
        "rescaled": measured("nested", "sparsity"),
    },
    "dimensionality": lambda: relu("dimensionality", "regimes", "overlap", "nested"),
    "endless_training": lambda: {"trajectory": endless()},
    "forecast_gain": lambda: {"one": transferred(), "other": transferred("Other", wrong=(1.0,))},
    "layer_scales": lambda: {role: scaled_layers()[role] for role in ("curve", "risk")},
    "layer_scales_beyond": lambda: {
        "relu": scaled_layers()["relu"], "curve": plugins.call("theory.curves", "pretraining_time", dimension=8),
    },
    "ntk_bound": lambda: {"bound": wide_relu()},
    "pretrained_rescaling": lambda: {role: convnet_runs.pretrained(1.0)[role] for role in ("pairs", "sets", "sizes")},
    "random_signs": lambda: {
        **{name: measured_relu("random_signs", name) for name in ("clusters", "dimensionality")},
        "paired": measured_relu("regimes", "clusters"),
        "paired_dimensionality": measured_relu("regimes", "dimensionality"),
        "tuned": measured_relu("random_signs_tuned", "clusters"),
        "tuned_paired": measured_relu("overlap", "clusters"),
    },
    "relu_displacement": lambda: {
        **relu("displacement", "overlap", "nested", "magnitude"), "risk": measured_relu("magnitude", "risk")
    },
    "relu_least_penalty": lambda: {"least": fitted("few"), "spread": fitted("spread")},
    "relu_norms": lambda: {
        "norms": measured_relu("overlap", "relu_norms"), "regimes": measured_relu("regimes", "relu_norms"),
        "displacement": measured_relu("overlap", "displacement"),
    },
    "relu_penalty": lambda: {"curve": plugins.call("theory.curves", "relu_penalty", points=21)},
    "replay": lambda: {"published": pd.read_csv(TABLE), "relu": replayed(), "rounded": replayed()},
    "solver_agreement": lambda: {
        **{name: measured("agreeing", name) for name in ("coefficients", "trajectory", "risk")},
        "relu": relu_by_flow_and_descent(),
    },
}  # fmt: skip
MODULES = {
    convnet_networks: ("convnet_rescaling", "convnet_controls", "stage_dimensionality"),
    deep_linear_networks: (
        "transfer_diagram", "norm_factor", "ridge_transfer", "regularised_scratch", "dataset_distances",
        "linear_agreement", "frozen_layer", "gaussian_bounds", "covariance_bound", "norm_scale",
    ),
    mean_field_networks: ("mean_field_transfer", "mean_field_anchor"),
}  # fmt: skip
ROLES |= {plot: partial(module.roles, plot) for module, plots in MODULES.items() for plot in plots}
RESCALED = {"column": "main_features", "row": "overlap", "hue": ("rescale",), "only": ("protocol=single_task",)}
# Of the facet plot: (function that makes the risks, options, number of panels).
FACETS = [
    (partial(measured, "overlapping", "risk"), {"column": "overlap"}, 3),
    (partial(measured, "nested", "risk"), RESCALED, 4),
    (
        partial(measured_relu, "magnitude", "risk"),
        {"column": "magnitude", "row": "correlation", "relative_to": "magnitude", "dodge": 0.05}, 4
    ),
]  # fmt: skip
# {plot: [(options, number of panels with those of colour bars)]}
CASES = {
    "atlas": [({}, 3), ({"settings": 2}, 3)],
    "bound_correlations": [({}, 4)],
    "clusters": [({"samples": 8}, 14), ({"samples": 8, "nested_samples": (4,)}, 12)],
    "convnet_accuracies": [({}, 2)],
    "convnet_controls": [({}, 3)],
    "convnet_dimensions": [({}, 10), ({"network": "vit"}, 10)],
    "convnet_factors": [({}, 4)],
    "convnet_rescaling": [({}, 4)],
    "covariance_bound": [({}, 3)],
    "cross_entropy": [({}, 6)],
    "dataset_distances": [({}, 10)],
    "diagonal_solutions": [({"samples": 4}, 12)],
    "dimensionality": [({}, 9), ({"nested_samples": (8,)}, 8)],
    "endless_training": [({}, 3)],
    "forecast_gain": [({}, 2)],
    "frozen_layer": [({}, 3)],
    "gaussian_bounds": [({}, 3)],
    "layer_scales": [({}, 5)],
    "layer_scales_beyond": [({}, 4)],
    "linear_agreement": [({}, 8)],
    "mean_field_anchor": [({}, 3)],
    "mean_field_transfer": [({}, 17)],
    "norm_factor": [({}, 4)],
    "norm_scale": [({}, 4)],
    "ntk_bound": [({}, 3)],
    "pretrained_rescaling": [({}, 3)],
    "random_signs": [({}, 7)],
    "regularised_scratch": [({}, 5)],
    "relu_displacement": [({"samples": (4, 8)}, 6)],
    "relu_least_penalty": [({}, 8)],
    "relu_norms": [({}, 4)],
    "relu_penalty": [({"quantity": "penalty"}, 6), ({"quantity": "exponent"}, 6)],
    "replay": [({}, 4)],
    "ridge_transfer": [({}, 3)],
    "solver_agreement": [({"samples": 4}, 10)],
    "stage_dimensionality": [({}, 6)],
    "transfer_diagram": [({}, 5), ({"protocol": "finetuning", "noise": 0.0}, 5)],
}


def cases(name):
    """(data by role, options, number of panels) of what is drawn of a plot."""
    if name == "facets":
        return [({"risk": make()}, options, count) for make, options, count in FACETS]
    return [(ROLES[name](), options, count) for options, count in CASES[name]]
