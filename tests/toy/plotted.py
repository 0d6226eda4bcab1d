"""Tiny data for every plot, as the families make them."""

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from carryover.claims import agreement
from carryover.config.parameters import model_of
from carryover.labels import labelled
from carryover.measures import coefficients, norms, risk, sparsity, trajectory
from carryover.theory.curves import relu_penalty
from carryover.workflow.collecting import collect
from toy import (
    convnet_networks,
    convnet_runs,
    deep_linear_networks,
    image_pair_networks,
    mean_field_networks,
    relu_toys,
    wide_relu_networks,
)
from toy.atlas_runs import mapped
from toy.diagonal_networks import SEEDS, classifying, endless, measured
from toy.relu_networks import measured as measured_relu

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "resources/published/feature-reuse-risk.csv"


@cache
def relu_by_flow_and_descent():
    start = relu_toys.pretrained(seeds=SEEDS)
    told = {"seeds": SEEDS, "samples": (4, 8), "tolerance": 1e-2, "max_epochs": 2000}
    runs = [
        relu_toys.finetuned(start, protocol, initial_scale=(0.5,), readout_scale=0.5, **told, **how)
        for protocol in ("single_task", "finetuning")
        for how in ({"solver": "flow"}, *({"solver": "descent", "learning_rate": rate} for rate in (0.1, 0.02)))
    ]
    return labelled(collect([risk.measure(run, model_of("measures", "risk")()) for run in runs]), "relu")


def near_published(experiment):
    """Runs of every published cell of an experiment, as if each seed had found the published mean, or nearly."""
    table = pd.read_csv(TABLE).query("family == 'diagonal'")
    rows = [row for _, row in table[table["experiment"] == experiment].iterrows() for _ in SEEDS]
    columns = {name: ("run", np.array([row[name] for row in rows])) for name in agreement.CELLS["diagonal"]}
    means = np.array([row["risk_mean"] for row in rows])
    factors = np.tile([0.8, 1.3], len(rows) // 2)
    return xr.Dataset(
        {"risk_final": ("run", means * factors), "risk_best": ("run", means / factors)},
        coords={**columns, "seed": ("run", np.tile(SEEDS, len(rows) // 2)), "solver": ("run", ["flow"] * len(rows))},
    )


def from_imagenet(role):
    return convnet_runs.pretrained(1.0)[role]


def fitted(experiment):
    """Penalties of networks as if all had learned their samples."""
    data = measured_relu(experiment, "least_penalty")
    return data.assign(unfitted=0 * data["unfitted"])


CURVE = (relu_penalty.compute, model_of("theory.curves", "relu_penalty")(points=21))
RISK, SPARSITY = (measured, "overlapping", risk), (measured, "overlapping", sparsity)
RESCALED = {"column": "main_features", "row": "overlap", "hue": ("rescale",), "only": ("protocol=single_task",)}
RELU = {
    measure: {experiment: (measured_relu, experiment, measure) for experiment in ("regimes", "overlap", "nested")}
    for measure in ("clusters", "dimensionality")
}
MOVED = {experiment: (measured_relu, experiment, "displacement") for experiment in ("overlap", "nested", "magnitude")}
NORMS = {"norms": (measured_relu, "overlap", "relu_norms"), "regimes": (measured_relu, "regimes", "relu_norms")}
# {plot: [({role: how its data are made}, parameters, number of panels)]}
DRAWN = {
    "relu_penalty": [({"curve": CURVE}, {"quantity": quantity}, 6) for quantity in ("penalty", "exponent")],
    "facets": [
        ({"risk": RISK}, {"column": "overlap"}, 3),
        ({"risk": (measured, "nested", risk)}, RESCALED, 4),
        (
            {"risk": (measured_relu, "magnitude", "risk")},
            {"column": "magnitude", "row": "correlation", "relative_to": "magnitude", "apart": 0.05},
            4,
        ),
    ],
    "diagonal_solutions": [
        (
            {
                "norms": (measured, "overlapping", norms),
                "sparsity": SPARSITY,
                "rescaled": (measured, "nested", sparsity),
            },
            {"samples": 4},
            12,
        )
    ],
    "solver_agreement": [
        (
            {m.__name__.rpartition(".")[2]: (measured, "agreeing", m) for m in (coefficients, trajectory, risk)}
            | {"relu": (relu_by_flow_and_descent,)},
            {"samples": 4},
            10,
        )
    ],
    "cross_entropy": [
        ({"diagonal": (classifying,), "relu": (classifying,)}, {}, 6),
    ],
    "pretrained_rescaling": [({role: (from_imagenet, role) for role in ("pairs", "sets", "sizes")}, {}, 3)],
    "endless_training": [({"trajectory": (endless,)}, {}, 3)],
    "clusters": [
        (RELU["clusters"], {"samples": 8}, 14),
        (RELU["clusters"], {"samples": 8, "nested_samples": (4,)}, 12),
    ],
    "dimensionality": [
        (RELU["dimensionality"], {}, 9),
        (RELU["dimensionality"], {"nested_samples": (8,)}, 8),
    ],
    "relu_norms": [(NORMS | {"displacement": MOVED["overlap"]}, {}, 4)],
    "relu_displacement": [(MOVED | {"risk": (measured_relu, "magnitude", "risk")}, {"samples": (4, 8)}, 6)],
    "atlas": [({"one": (mapped,), "other": (mapped,)}, {}, 3), ({"one": (mapped,)}, {"settings": 2}, 2)],
    "relu_least_penalty": [({"least": (fitted, "few"), "spread": (fitted, "spread")}, {}, 8)],
    "published_risk": [
        (
            {"published": (pd.read_csv, TABLE), **{e: (near_published, e) for e in ("overlap", "nested")}},
            {},
            4,
        )
    ],
}


# {plot: [(module that has its `roles`, parameters, number of panels with those of colour bars)]}
TRANSFER = {
    "transfer_diagram": [
        (deep_linear_networks, {}, 5),
        (deep_linear_networks, {"protocol": "finetuning", "noise": 0.0}, 5),
    ],
    "norm_factor": [(deep_linear_networks, {}, 4)],
    "ridge_transfer": [(deep_linear_networks, {}, 3)],
    "regularised_scratch": [(deep_linear_networks, {}, 5)],
    "dataset_distances": [(deep_linear_networks, {}, 10)],
    "linear_agreement": [(deep_linear_networks, {}, 6)],
    "frozen_layer": [(deep_linear_networks, {}, 3)],
    "gaussian_bounds": [(deep_linear_networks, {}, 3)],
    "covariance_bound": [(deep_linear_networks, {}, 3)],
    "ntk_bound": [(wide_relu_networks, {}, 3)],
    "bound_correlations": [(image_pair_networks, {}, 4)],
    "norm_scale": [(deep_linear_networks, {}, 4)],
    "mean_field_transfer": [(mean_field_networks, {}, 17)],
    "mean_field_anchor": [(mean_field_networks, {}, 3)],
    "convnet_rescaling": [(convnet_networks, {}, 4)],
    "convnet_controls": [(convnet_networks, {}, 3)],
    "stage_dimensionality": [(convnet_networks, {}, 6)],
}


def cases(name):
    """(data by role, parameters, number of panels) of what is drawn of a plot."""
    for roles, told, count in DRAWN.get(name, []):
        yield {role: make(*what) for role, (make, *what) in roles.items()}, told, count
    for networks, told, count in TRANSFER.get(name, []):
        yield networks.roles(name), told, count
