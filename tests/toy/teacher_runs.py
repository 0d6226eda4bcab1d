"""Runs of deep linear networks as claims about finetuning between linear teachers ask for."""

import numpy as np

from toy.made_up_runs import dataset, size

SAME, FLAT, RANK, STABLE, EQUATION = 0.05, 0.1, 1.1, 0.0212, 0.01  # bounds of claims.yaml


def runs(decades, *grids):
    """Converged runs whose risk is a power of ten."""
    return dataset(lambda **point: {"risk_final": 10.0 ** decades(**point), "converged": 1, "loss": 0.0}, *grids)


def teachers(effect):
    def alignment(seed, relation, samples, solver, **_):
        if solver == "descent":
            return np.log10(1 + 1e-2 * 10.0 ** -size(effect, seed)) + alignment(seed, relation, samples, "exact")
        return {10: size(effect, seed), 120: -2.0, 190: -size(effect, seed)}[samples] * (relation == "leading")

    def stretched(seed, depth, stretch, **_):
        return (0.3 * size(effect, seed) if stretch == 8 else SAME * (1 - size(effect, seed))) * (depth == 1)

    def scaled(seed, depth, samples, target_norm, source_norm, **_):
        decisive = depth == 7 and samples != 25
        if (target_norm, source_norm) == (1, 8):
            return (1 + size(effect, seed)) * decisive
        return (1 + 2 * size(effect, seed) if decisive else -9) * (target_norm == 8 and source_norm == 1)

    def frozen(seed, protocol, samples, pretrain_solver, **_):
        if protocol == "linear_transfer":
            flat = 2 * size(effect, seed) + FLAT * (1 - size(effect, seed)) * (samples == 150)
            return -9 if samples == 5 else flat if pretrain_solver == "exact" else flat - size(effect, seed)
        return size(effect if samples < 100 else -9, seed) * (protocol == "single_task")

    def layers(seed, frozen, samples, **_):
        return samples + SAME * (1 - size(effect, seed)) * (frozen == 2)

    def small(seed, pretrain_scale, **_):
        flat = 2 * size(effect, seed) + FLAT * (1 - size(effect, seed))  # an effect more than from larger weights
        rank = RANK - 0.05 * size(effect, seed)
        if pretrain_scale > 0.003:  # of 100 dimensions
            flat, rank = 9.0, 2 * 10 ** (STABLE * (1 - size(effect, seed)))
        return {"risk_final": 10.0**flat, "feature_share": 1 / rank}

    def coefficients(seed, depth, stretch, solver, **_):
        off = 0.0 if solver == "exact" else 1e-3 * 10.0 ** -size(effect, seed)
        return {"coefficients": np.array([3.0, 4.0]) * (1 + off)}

    over = {
        "solver": ["exact", "descent"],
        "depth": [1, 5],
        "stretch": [1.0, 8.0],
        "samples": [10, 50],
        "deviation": [0.5],
    }
    told = {"solver": ["exact", "descent"], "relation": ["leading", "trailing"]}
    aligned = [told | {"samples": [n], "gamma": [n / 200]} for n in (10, 120, 190)]
    kinds = [("single_task", "exact", ""), ("finetuning", "descent", "exact")]
    kinds += [("linear_transfer", solver, solver) for solver in ("exact", "descent")]
    grids = [
        {"protocol": [protocol], "solver": [solver], "pretrain_solver": [source], "samples": [n], "gamma": [n / 100]}
        for protocol, solver, source in kinds for n in (5, 50, 150)
    ]  # fmt: skip
    norms = {"solver": ["exact"], "target_norm": [1.0, 8.0], "source_norm": [1.0, 8.0]}
    return {
        "alignment": runs(alignment, *aligned),
        "stretch": runs(stretched, over | {"solver": ["exact"]}),
        "stretch_trained": runs(stretched, over),
        "coefficients": dataset(coefficients, over),
        "scale": runs(scaled, {**norms, "depth": [1, 7], "samples": [10, 25, 50]}),
        "frozen": runs(frozen, *grids),
        "small": dataset(small, grids[-1] | {"pretrain_scale": [0.002, 0.01]}),
        "layers": runs(layers, {"protocol": ["linear_transfer"], "solver": ["descent"], "frozen": [1, 2], "depth": [3],
                                "samples": [5, 50]}),
    }  # fmt: skip


def aligned(effect):
    """Risks fall with the depth's power 1.5 plus the effect."""

    def decades(seed, angle, depth, target_norm, protocol, **_):
        if angle > 0:
            return 7.0
        if protocol == "single_task":  # the target is three times the source, or half of it
            off = EQUATION * (1 - size(effect, seed)) if target_norm == 6 else 0.0
            return -2 * np.log10(2 / 3 if target_norm == 6 else 1) - off
        fall = {1: 0.0, 10: 0.5 + size(effect, seed), 100: 2.0 + 2 * size(effect, seed)}[depth]
        return -(fall if target_norm == 6 else 9 * np.log10(depth))

    told = {"protocol": ["finetuning", "single_task"], "solver": ["exact"], "noise": [0.0], "source_norm": [2.0]}
    over = {"angle": [0.0, 0.25], "depth": [1, 10, 100], "samples": [10, 50], "target_norm": [1.0, 6.0]}
    return {"risk": runs(decades, told | over)}


MADE = {"linear_teachers": teachers, "aligned_teachers": aligned}
