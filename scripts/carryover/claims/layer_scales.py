"""Layers of different sizes before pretraining: diagonal networks next to their exact risk, and ReLU networks.

Risks are log₁₀. Bounds were fixed after the small configuration was seen and before the papers' scale was run.
"""

from functools import partial

import numpy as np
from pydantic import PositiveInt
from scipy.stats import t

from carryover.analysis.run_tables import Runs
from carryover.claims.support.checks import Check, checks
from carryover.config import plugins
from carryover.config.parameters import Model, parameter
from carryover.statistics import intervals
from carryover.theory.interpolation import interpolation_risk
from carryover.theory.layer_scales import finetuning_rates, task_kinds

CELLS = ("main_features", "overlap", "samples", "pretrain_initial_scale", "pretrain_balance")
FLOOR = 1e-6  # risk below which what training leaves unfitted counts
READOUT = 1e-3  # after pretraining


class LayerScales(Model):
    dimension: PositiveInt = parameter(200, "input dimensions of the diagonal networks")
    auxiliary_features: PositiveInt = parameter(16, "active dimensions of their auxiliary task, ±1/√k each")


@plugins.check(data=["risk", "relu"])
def layer_scales(data, p: LayerScales):
    """Roles: `risk` of diagonal networks over scales and balances, `relu`: `risk` of ReLU networks over ratios.

    `cells` compares all conditions with theory. The other checks are at the middle number of samples, those of diagonal
    networks on a nested task: the fewest features, all of them pretrained.
    """
    runs = Runs("risk", data["risk"])
    # Cells are conditions: measured risks by seed (rows) and cell (columns), and the exact risk of each cell.
    cells = runs.where(protocol="finetuning").risks(*CELLS).clip(lower=np.log10(FLOOR))
    exact = np.log10(np.maximum(_exact_risk(p, cells.columns.to_frame()), FLOOR))
    # The share of cells whose mean would lie within 2 s.e. of the exact risk if only draws differed from it.
    expected = 2 * t.cdf(2, len(cells) - 1) - 1
    within = (abs(cells.mean() - exact) <= 2 * cells.sem())[exact > np.log10(FLOOR)]

    few, middle = runs.extremes("main_features")[0], _middle(data["risk"])
    (_, large), (small, _) = runs.extremes("pretrain_initial_scale"), runs.extremes("pretrain_balance")
    nested = runs.where(overlap=1.0, main_features=few, samples=middle)
    pretrained = nested.where(pretrain_initial_scale=large).risks("protocol", "pretrain_balance")
    scratch = nested.where(initial_scale=large).risks("protocol")
    ours = pretrained["finetuning", small]
    results = checks({
        "cells": Check(within.astype(float), partial(intervals.wilson, over="cells")),
        "nests": pretrained["finetuning", 0.0] - ours,
        "above_probe": pretrained["finetuning_probe", small] - ours,
        "above_scratch": scratch["single_task"] - ours,
        "above_multi_task": scratch["multi_task"] - ours,
    }, samples=middle, scale=2 * large**2, features=few, floor=FLOOR, expected=expected)  # fmt: skip

    middle = _middle(data["relu"])
    relu = Runs("relu", data["relu"]).where(samples=middle, overlap=1.0)
    few, most = relu.extremes("main_features")
    smallest, *ratios = relu.options("pretrain_layer_ratio", 2)
    alike = min(ratios, key=lambda ratio: abs(np.log(ratio)))
    risks = relu.risks("main_features", "pretrain_layer_ratio")
    return results | checks({
        "relu_nests": risks[few, alike] - risks[few, smallest],
        "relu_reuses": risks[most, alike] - risks[most, smallest],
    }, ratio=smallest, samples=middle)  # fmt: skip


def _middle(data):
    """The middle number of samples."""
    sizes = np.unique(data["samples"])
    return sizes[len(sizes) // 2]


def _exact_risk(p, cells):
    """Risk (cells,) in many dimensions after finetuning, of a data frame of the coordinates of cells."""
    main, scale = cells["main_features"].values, 2 * cells["pretrain_initial_scale"].values[:, None] ** 2
    counts, task, learned = task_kinds(p.dimension, p.auxiliary_features, main, main * cells["overlap"].values)
    rates = finetuning_rates(learned, scale, scale * cells["pretrain_balance"].values[:, None], READOUT)
    return interpolation_risk(cells["samples"].values, counts, task, *rates)
