"""Where training on the main task starts."""

import numpy as np

from carryover.families.relu import task
from carryover.networks.relu import Weights
from carryover.streams import generator


def weights(p, shard, runs, outputs):
    """Weights before the first step: a pretrained first layer under a new readout, or small ones; then rescaled."""
    seeds, experiment = [run.seed for run in runs], shard.experiment
    if shard.pretrained is None:
        unit = task.small_weights(p, experiment, seeds, outputs, 1.0)
        scale = np.array([run.initial_scale for run in runs])[:, None, None]
        first, second = unit.first * scale, unit.second * scale
    else:
        first = shard.pretrained["first"].values[shard.rows(seed=seeds)]
        first = _turned_apart(first, p.spread, experiment, seeds) if p.spread else first
        second = np.stack([task.readout(p, experiment, seed, outputs, p.readout_scale) for seed in seeds])
    rescale = np.array([run.rescale for run in runs])[:, None, None]
    return Weights(first * rescale, second * rescale if p.rescaled == "both" else second)


def _turned_apart(first, spread, experiment, seeds):
    """Input weights (runs, H, D) of the same lengths, in directions with noise, the same for all runs of a seed."""
    noise = np.stack([generator(experiment, "", seed, "spread").standard_normal(first.shape[1:]) for seed in seeds])
    lengths = np.linalg.norm(first, axis=2, keepdims=True)
    turned = first + spread * lengths * noise / np.sqrt(first.shape[2])
    return turned * lengths / np.maximum(np.linalg.norm(turned, axis=2, keepdims=True), np.finfo(float).tiny)
