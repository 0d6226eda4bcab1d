"""Theory curves of "Features are fate: a theory of transfer learning in high-dimensional regression": what transfer
between linear tasks gains, and how far apart their data are."""

import numpy as np
from pydantic import NonNegativeFloat, PositiveFloat, PositiveInt

from carryover.config import plugins
from carryover.config.parameters import Fraction, Model, Several, parameter
from carryover.labels import make_dataset
from carryover.streams import generator
from carryover.theory import discrepancy, transfer


class Transferability(Model):
    """Noise and depth, and how many angles and samples per dimension the surfaces are drawn at."""

    noise: tuple[NonNegativeFloat, ...] = parameter((0.0, 0.2, 0.5), "standard deviations σ of the label noise")
    depth: tuple[PositiveInt, ...] = parameter((1, 2, 3), "layers; 1 keeps the norm outside the data, as eq 15 does")
    angles: Several = parameter(101, "angles from 0 to π/2, evenly spaced")
    points: Several = parameter(200, "values of γ from 0.005 to 1.995, evenly spaced")


@plugins.curve()
def transferability(p: Transferability):
    """Transferabilities, the risk from scratch, and the boundaries of negative transfer, over `angle` and `gamma`.

    Figures 1, 2, 7 and 8. At γ = 1 with noise the risk from scratch and the transferability of linear transfer are
    infinite, which the default grid avoids. Angles are in units of π; all else is dimensionless.
    """
    angle, gamma = np.linspace(0.0, 0.5, p.angles), np.linspace(0.005, 1.995, p.points)
    gamma[abs(gamma - 1) < 1e-9] = 1  # but for rounding, where the risk from scratch is infinite, not merely huge
    noise, depth, theta = np.array(p.noise, float), np.array(p.depth), np.pi * angle
    by_noise, by_depth = noise[:, None, None], depth[:, None]
    linear = transfer.linear_transferability(gamma, theta[:, None], by_noise)
    finetuning = transfer.finetune_transferability(gamma, theta[:, None])
    # Equation 15 with the norm factor of "Finetuning with linear teachers" (equation 5).
    with_norm = transfer.finetune_transferability(gamma, theta[:, None], by_noise[..., None], by_depth[..., None])
    low, high = transfer.negative_transfer_interval(theta, noise[:, None])
    threshold = transfer.negative_transfer_threshold(theta, noise[:, None])
    boundary = transfer.finetune_boundary(gamma, by_noise, by_depth) / np.pi
    regions, gain, above = ("noise", "angle"), "risk from scratch less risk of", "gamma above which linear transfer is"
    return make_dataset(
        {
            "linear": (("noise", "angle", "gamma"), linear, f"{gain} linear transfer"),
            "finetuning": (("angle", "gamma"), finetuning, f"{gain} finetuning, norm outside the data kept"),
            "finetuning_norm": (("noise", "depth", "angle", "gamma"), with_norm, f"{gain} finetuning"),
            "scratch": (("noise", "gamma"), transfer.scratch_risk(gamma, noise[:, None]), "risk from scratch"),
            "interval_low": (regions, low, f"{above} negative, below 1"),
            "interval_high": (regions, high, "gamma below 1 up to which linear transfer is negative"),
            "threshold": (regions, threshold, f"{above} negative, above 1"),
            "finetuning_boundary": (("noise", "depth", "gamma"), boundary,
                                    "angle above which finetuning is negative", "pi"),
        },
        {
            "noise": (noise, "standard deviation of the label noise"),
            "depth": (depth, "layers, with the readout"),
            "angle": (angle, "angle between source and target task", "pi"),
            "gamma": (gamma, "samples per input dimension, n/d"),
        },
    )  # fmt: skip


class TransferDistances(Model):
    """The targets, κ times the source turned by an angle, and the samples from which distances are estimated."""

    angle: tuple[Fraction, ...] = parameter(
        (0.0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0), "angles θ between source and target [π]")  # fmt: skip
    target_norm: tuple[PositiveFloat, ...] = parameter((0.5, 1.0, 2.0), "norms κ of the target; the source's is 1")
    noise: NonNegativeFloat = parameter(0.2, "standard deviation σ of the label noise")
    gamma: PositiveFloat = parameter(0.5, "samples of the target per input dimension, γ = n/d")
    depth: PositiveInt = parameter(1, "layers; 1 keeps the norm outside the data, as eq 15 does")
    samples: PositiveInt = parameter(150, "points of each task between which distances are found")
    repeats: PositiveInt = parameter(3, "draws of these points")


@plugins.curve()
def transfer_distances(p: TransferDistances):
    """Distances and transferabilities (target_norm, angle), the sampled distances with `repeat`; dimensionless.

    Figure 4 and section 2.1. The same draws serve all targets, so that curves over them are smooth. Along θ ∈ [0, π/2]
    at κ = 1 the transferabilities fall as the distances rise. Linear transfer depends on θ through sin²θ alone: over
    [0, π], or with targets −κβ_s, it is best again where the distances are largest; and κ changes distances and gains
    independently. At σ = 0 the Kullback–Leibler divergence is infinite. Raises ValueError where a value is out of its
    range.
    """
    theta, norm, source = np.pi * np.array(p.angle, float), np.array(p.target_norm, float), np.array([1.0, 0.0])
    length = norm[:, None]
    targets = length[..., None] * np.stack([np.cos(theta), np.sin(theta)], axis=-1)
    # A target of norm κ is κ times one of norm 1 with the noise σ/κ, so that its risks are κ² times as large.
    linear = length**2 * transfer.linear_transferability(p.gamma, theta, p.noise / length)
    finetuning = transfer.finetune_transferability(p.gamma, theta, p.noise, p.depth, target_norm=length)
    wasserstein, dudley = np.empty((2, *targets.shape[:2], p.repeats))
    for distance, values in ((discrepancy.wasserstein1, wasserstein), (discrepancy.dudley_metric, dudley)):
        for *index, repeat in np.ndindex(values.shape):
            rng = generator("transfer_distances", {"repeat": repeat}, 0, "inputs")
            values[*index, repeat] = distance(source, targets[*index], p.noise, p.samples, rng)
    dims, sampled = ("target_norm", "angle"), ("target_norm", "angle", "repeat")
    return make_dataset(
        {
            "kl": (dims, discrepancy.kl_divergence(source, targets, p.noise), "Kullback-Leibler divergence"),
            "wasserstein": (sampled, wasserstein, "Wasserstein-1 distance between samples"),
            "dudley": (sampled, dudley, "Dudley metric between samples"),
            "linear": (dims, linear, "risk from scratch less risk of linear transfer"),
            "finetuning": (dims, finetuning, "risk from scratch less risk of finetuning"),
        },
        {
            "target_norm": (norm, "norm of the target's coefficients, for a source of norm 1"),
            "angle": (np.array(p.angle, float), "angle between source and target task", "pi"),
            "repeat": (np.arange(p.repeats), "draw of the samples"),
        },
    )
