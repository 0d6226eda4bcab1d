"""Runs of deep linear networks as claims about them ask for: with the risks of theory, or with effects of a given size,
among runs that none does.

An effect of 1 is that of the paper, -1 its opposite; seeds differ from it by a half. Risks of theory differ from it by
one in a hundred."""

import numpy as np
import xarray as xr

from carryover.theory import transfer as theory
from toy.made_up_runs import dataset, size

D = 200
GAMMAS = (0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 0.95, 1.0, 1.05, 1.1, 1.25, 1.5)


def near(value, seed):
    return value * size(1, seed) ** 0.01  # seeds have factors of about 1.004 and 0.993


def gaining(gain, protocol, **grid):
    """Runs of a protocol that gain so much over scratch training, whose risk is 10 + seed."""

    def values(**point):
        name = point.pop("protocol")
        return {"risk_final": 10.0 + point["seed"] - (gain(**point) if name == protocol else 0.0)}

    return sampled(dataset(values, {"protocol": ["single_task", protocol], "solver": ["exact"], **grid}))


def sampled(runs):
    """With the numbers of samples of networks of D dimensions, where they have γ."""
    if "gamma" not in runs.coords or "samples" in runs.coords:
        return runs
    return runs.assign_coords(samples=("run", np.round(D * runs["gamma"].values).astype(int)))


def transfer():
    """Training from scratch and linear transfer as eqs 8, 10 and 125 have it."""

    def risk(seed, protocol, gamma, angle, noise, **_):
        if protocol == "single_task":
            found = 50.0 if gamma == 1 and noise else theory.scratch_risk(gamma, noise)
        else:
            found = theory.linear_transfer_risk(np.pi * angle, noise, round(D * gamma))
        return {"risk_final": near(found, seed)}

    def penalised(seed, samples, angle, ridge, noise, **_):
        missed = np.sin(np.pi * angle) ** 2
        excess = theory.ridge_transfer_risk(np.pi * angle, ridge, samples, noise) - missed
        return {"risk_final": missed + near(excess, seed)}

    def decayed(seed, weight_decay, protocol, **_):
        above = {0.0: 1.0, 0.1: -1.0, 1.0: -3.0}[weight_decay] * (protocol == "single_task")  # than that of transfer
        above = above * size(1, seed) if weight_decay < 1 else above  # the last has least risk, but is not chosen
        return {"risk_final": 3.0 + above, "validation_loss": {0.0: 2.0, 0.1: 1.0, 1.0: 3.0}[weight_decay]}

    told = {"solver": ["exact"], "gamma": GAMMAS, "angle": [0.125, 0.25, 0.375, 0.5], "noise": [0.0, 0.2, 1.0]}
    common = {"solver": ["exact"], "gamma": [0.5, 0.98, 1.5], "angle": [0.25, 0.5]}
    penalties = {"samples": [10, 30, 300], "angle": [0.25, 0.375, 0.5], "ridge": [0.0, 0.01, 0.1, 0.6], "noise": [0.2]}
    return {
        "diagram": sampled(dataset(risk, {"protocol": ["single_task", "linear_transfer"], **told})),
        "loud": sampled(dataset(risk, {"protocol": ["single_task", "linear_transfer"], **told, "noise": [2.0]})),
        "ridge": dataset(penalised, {"protocol": ["linear_transfer"], **penalties}),
        "decay": dataset(decayed, {"protocol": ["linear_transfer"], "weight_decay": [0.0], **common},
                         {"protocol": ["single_task"], "weight_decay": [0.0, 0.1, 1.0], **common}),
    }  # fmt: skip


def finetuning(factor=True):
    """Finetuning as eq 15 has it, with or without the norm factor; in the diagram, of each seed's own draw: its samples
    leave a tenth more or less of source and target, which are not orthogonal outside them."""

    def gain(seed, gamma, angle, noise, depth, **_):
        return near(theory.finetune_transferability(gamma, np.pi * angle, noise, depth if factor else None), seed)

    def drawn(seed, protocol, gamma, angle, noise, depth, **_):
        if gamma > 1:
            return {"risk_final": 10.0 + seed - 1e-9 * size(1, seed) * (protocol == "finetuning")}
        theta, outside, crossed = np.pi * angle, (1 - gamma) * (1 + 0.1 * (-1) ** seed), 0.01 * (-1) ** seed
        missed = outside + crossed * np.sin(2 * theta)
        power = noise**2 * gamma / (1 - gamma)
        phi = theory.norm_factor(1 - missed + power, outside, depth if factor else 1)
        gain = 2 * phi * (np.cos(theta) * outside + np.sin(theta) * crossed) - phi**2 * outside
        return {"risk_final": missed + power - near(gain, seed) * (protocol == "finetuning")}

    told = {"gamma": [0.5, 1.5], "angle": [0.5], "noise": [1.0], "depth": [1, 2]}
    tuned = gaining(gain, "finetuning", **(told | {"solver": ["exact", "descent"]}))
    scratch = (tuned["protocol"] == "single_task") & (tuned["solver"] == "descent")
    angles = {"angle": [0.05, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5], "noise": [0.0, 0.2, 1.0], "depth": [2]}
    grid = {"protocol": ["single_task", "finetuning"], "solver": ["exact"], "gamma": [0.25, 0.5, 0.75, 1.5]}
    return {
        "simulated": tuned.isel(run=~scratch.values),
        "diagram": sampled(dataset(drawn, grid | angles)),
    }


ANGLES, NORMS = (0.0, 0.25, 0.5, 0.75, 1.0), (0.5, 1.0, 2.0)
GAINS = {
    "features": lambda norm, angle: norm**2 * (np.cos(np.pi * angle) ** 2 - 0.4),
    "distance": lambda norm, angle: -_squared(norm, angle),
    "opposite": lambda norm, angle: _squared(norm, angle),
}


def _squared(norm, angle):
    return norm**2 + 1 - 2 * norm * np.cos(np.pi * angle)  # of the distance between target and source


def distant(kind):
    """Gains by what targets share with the source, or by their distance from it."""

    def gain(seed, target_norm, angle, **_):
        return GAINS[kind](target_norm, angle) * (1 + 0.1 * seed)

    kl = np.array([[_squared(norm, angle) for angle in ANGLES] for norm in NORMS])
    sampled = np.sqrt(kl)[..., None] + [-0.1, 0.1]
    distances = xr.Dataset(
        {"kl": (("target_norm", "angle"), kl), "wasserstein": (("target_norm", "angle", "repeat"), sampled)},
        {"target_norm": list(NORMS), "angle": list(ANGLES)},
    )

    def setup(seed, gamma, angle, **_):
        return gain(seed, 1.0, angle) - 0.5 * gamma * (kind != "opposite")

    return {
        "diagram": gaining(setup, "linear_transfer", gamma=[0.25, 0.5], angle=[0.05, 0.3, 0.5], noise=[0.2, 1.0]),
        "risk": gaining(gain, "linear_transfer", target_norm=NORMS, angle=ANGLES, noise=[0.2], gamma=[0.5]),
        "distances": distances,
    }


def limits(effect):
    """Networks at a distance of 1e-3 · 10^-effect, or far off where they were stopped short."""

    def values(seed, protocol, solver, samples, pretrain_solver, **_):
        short = samples == 32 and solver != "exact"
        off = 0.0 if solver == "exact" else 1.0 if short else 1e-3 * 10.0 ** -size(effect, seed) * samples / 16
        beta = np.array([3.0 + samples, 4.0])
        beta = beta + off * np.array([0.6, 0.8]) * np.linalg.norm(beta)
        known = protocol == "finetuning"
        share = 0.999 + 5e-4 * size(effect, seed) / 1.5 if pretrain_solver == "descent" else 0.1
        # The product of the share of rank one and the square of its cosine is `share`.
        rank, cosine = (share**0.5, share**0.25) if known else (np.nan, np.nan)
        return {"coefficients": beta, "converged": not short, "feature_share": rank, "feature_alignment": cosine}

    told = {"solver": ["exact", "descent", "balanced"], "samples": [8, 16, 32]}
    runs = dataset(values, {"protocol": ["finetuning"], "pretrain_solver": ["exact", "descent"], **told},
                   {"protocol": ["single_task"], "pretrain_solver": [""], **told})  # fmt: skip
    risk = runs.drop_vars("coefficients")
    deep = risk.assign_coords(depth=("run", np.full(risk.sizes["run"], 3)))
    return {"coefficients": runs[["coefficients"]], "risk": risk, "deep": deep}


def stopped(effect):
    """Linear transfer gains the effect where training is long, and loses it where it is short; finetuning changes risks
    by less than .01 with more samples than dimensions."""

    def risk(sign):
        def values(seed, protocol, samples, **_):
            gain = {"linear_transfer": sign * size(effect, seed), "finetuning": 0.01 - 0.005 * size(effect, seed)}
            return {"risk_final": 10.0 - gain.get(protocol, 0.0)}

        angles = {"angle": [0.25, 0.5]}
        runs = dataset(values, {"protocol": ["single_task"], "samples": [16, 32], **angles},
                       {"protocol": ["linear_transfer"], "samples": [16], **angles},
                       {"protocol": ["finetuning"], "samples": [32], **angles})  # fmt: skip
        return runs.assign_coords(gamma=("run", runs["samples"].values / 16))

    return {"released": risk(1), "text": risk(-1)}
