"""Runs of ReLU networks as claims about them ask for, with effects of a given size, among runs that none asks for."""

import numpy as np

from toy import made_up_runs
from toy.made_up_runs import size

CLUSTERS = np.arange(1, 13)


def dataset(values, *grids):
    """Made-up runs, whose values by number of clusters have a coordinate."""
    return made_up_runs.dataset(values, *grids, along="clusters").assign_coords(clusters=CLUSTERS)


def risks(log_risk, *grids, unfinished=lambda **point: False):
    """Risks of trained networks, or of `unfinished` ones, whose loss is half of their risk."""

    def values(**point):
        risk, stopped = 10 ** log_risk(**point), unfinished(**point)
        return {"risk_final": risk, "loss": risk / 2 if stopped else risk / 20, "converged": 0}

    return {"risk": dataset(values, *grids)}


def sharing(effect, **options):
    def log_risk(seed, protocol, overlap, correlation, samples):
        if samples != 64:
            return seed
        if correlation < 1:
            return -size(effect, seed) * (protocol == "finetuning" and overlap == 1)
        some = {"multi_task": -3, "finetuning": -2, "single_task": 9}
        shared = {"multi_task": -2, "finetuning": -1, "single_task": 0}
        return size(effect, seed) * {0.5: some, 1.0: shared, 0.0: shared}[overlap].get(protocol, 0)

    protocols = ["single_task", "multi_task", "finetuning", "finetuning_probe", "finetuning_kernel"]
    grid = {"protocol": protocols, "overlap": [0.0, 0.5, 1.0], "correlation": [0.9, 1.0], "samples": [16, 64]}
    return risks(log_risk, grid, **options)


def nesting(effect, **options):
    scratch = {0.01: 7.0, 0.1: -0.7, 1.0: 0.4, 10.0: 2.0}

    def log_risk(seed, protocol, rescale, main_features, overlap, samples):
        if overlap < 1 or samples != 64 or main_features == 3 or (protocol == "single_task" and main_features > 1):
            return seed
        found = scratch[rescale] + 0.3 * (protocol == "finetuning_kernel") - 0.6 * (main_features == 6)
        return found - size(effect, seed) * ((protocol, rescale, main_features) == ("finetuning", 1.0, 1))

    same = {"main_features": [1, 3, 6], "overlap": [0.0, 1.0], "samples": [16, 64]}
    return risks(
        log_risk,
        {"protocol": ["single_task"], "rescale": [0.01, 0.1, 1.0, 10.0]} | same,
        {"protocol": ["finetuning"], "rescale": [0.1, 1.0, 10.0]} | same,
        {"protocol": ["finetuning_kernel"], "rescale": [1.0]} | same,
        **options,
    )


def richness(effect, **options):
    def log_risk(seed, protocol, initial_scale, main_features, samples):
        if samples != 256 or main_features == 12:
            return seed
        if (protocol, initial_scale) == ("single_task", 1.0):
            return 0.0
        gain = size(effect, seed) + np.log10(1.25)
        return -gain if main_features == 6 else size(effect, seed) - np.log10(1.25)

    def norms(seed, protocol, initial_scale, main_features, samples):
        """Of the teacher, so that risks of 10^log_risk leave as much of its mean square as the claim is about."""
        matched = samples == 256 and main_features == 1000
        risk = 10 ** log_risk(seed, protocol, initial_scale, main_features, samples)
        return {"l2_norm_teacher": np.sqrt(risk / (0.05 - 0.02 * size(effect, seed))) if matched else 1.0}

    grid = {"initial_scale": [1e-3, 1e-2, 1.0], "main_features": [6, 12, 1000], "samples": [64, 256]}
    tasks = {"protocol": ["single_task", "single_task_kernel"]} | grid
    return risks(log_risk, tasks, **options) | {"norms": dataset(norms, tasks)}


def inertia(value, at):
    """Inertias that are `value` with `at` clusters, and nothing to go by with others."""
    return np.where(at == CLUSTERS, value, 0.77)


def clusters(effect):
    """Claims on clusters are 0.04 of the effect from their bounds, but for `lazy_less_nested`, which is twice that."""
    made = {"regimes": _regimes(effect), "overlap": _overlap(effect), "nested": _nested(effect)}
    # Of 16 samples and fewer nothing is learnt.
    risks = {name: made[name].assign(risk_final=1.0 * (made[name]["samples"] <= 16)) for name in ("overlap", "nested")}
    return made | {f"{name}_risk": runs[["risk_final"]] for name, runs in risks.items()}


def _regimes(effect):
    def values(seed, protocol, initial_scale, main_features, samples):
        d, lazy = 0.04 * size(effect, seed), initial_scale == 1.0
        left = 0.1 + d + 0.5 * (samples != 256) if lazy else 0.1 - d * (samples != 64)
        return {
            "inertia": inertia(left, 6),
            "alignment": 0.3 if lazy or main_features == 1000 else 0.5 + d * np.log2(samples),
            "effective_clusters": _used(d, lazy, samples) if main_features == 1000 else 6.0,
        }

    tasks = {"protocol": ["single_task"], "main_features": [6, 1000]}
    rich, lazy = ({"initial_scale": [1e-3], "samples": [16, 64, 1024]}, {"initial_scale": [1.0], "samples": [16, 256]})
    return dataset(values, tasks | rich, tasks | lazy)


def _used(d, lazy, samples):
    return 30 * (1.2 - d * (samples != 16)) / (1.2 if samples == 16 else 1) if lazy else 4 + d * np.log2(samples)


def _overlap(effect):
    def values(seed, protocol, overlap, correlation, samples, main_features):
        d, garbage = 0.04 * size(effect, seed), correlation < 1
        aligned = samples == 16 and overlap == 1 and protocol != "single_task"
        sparse = protocol == "single_task" or samples != 256
        unique = 12 - round(6 * overlap)
        return {
            "inertia": inertia(seed if garbage else 0.2 if sparse else 0.3 - d, 6),
            "alignment": seed if garbage else 0.5 + d * aligned,
            "effective_clusters": seed
            if garbage or protocol != "multi_task"
            else unique * (1.2 - d * (samples == 256)),
        }

    tasks = {"overlap": [0.0, 0.5, 1.0], "correlation": [0.9, 1.0], "main_features": [6]}
    # Any two protocols have a size in common that is smaller, or larger, than those that all three have.
    sizes = {"single_task": [2, 4, 16, 256, 1024], "finetuning": [2, 8, 16, 256, 512], "multi_task": [4, 8, 16, 256]}
    return dataset(values, *({"protocol": [name], "samples": found} | tasks for name, found in sizes.items()))


def _nested(effect):
    def values(seed, protocol, overlap, rescale, main_features, samples):
        d, garbage = 0.04 * size(effect, seed), protocol == "single_task" or main_features > 1
        left = {0.1: 0.6, 1.0: 0.1 - d * (protocol == "finetuning"), 10.0: 0.1 + d, 100.0: 0.9}[rescale]
        gain = {0.1: -d / 2, 1.0: d, 10.0: 0.3, 100.0: 0.3}[rescale] if overlap == 1 and samples == 16 else 0.0
        return {
            "inertia": inertia(seed if garbage or overlap == 0 else left, 1),
            "alignment": seed if garbage else 0.5 + gain,
            "effective_clusters": seed,
        }

    tasks = {"overlap": [0.0, 1.0], "main_features": [1, 6]}
    return dataset(
        values,
        {"protocol": ["single_task"], "rescale": [0.1, 1.0, 10.0, 100.0], "samples": [8, 256, 512]} | tasks,
        {"protocol": ["finetuning"], "rescale": [0.1, 1.0, 10.0], "samples": [16, 64, 256, 512]} | tasks,
        {"protocol": ["multi_task"], "rescale": [1.0], "samples": [16, 256, 1024]} | tasks,
    )


def dimensionality(effect):
    def regimes(seed, protocol, initial_scale, main_features, samples):
        lower = size(effect, seed) * (samples == 64) + 9 * (samples != 64)
        return {"participation_ratio": 10 ** (-lower * (initial_scale == 1e-3)) if main_features == 6 else 1.0}

    def nested(seed, protocol, rescale, main_features, overlap, samples):
        d = 0.05 * size(effect, seed)
        if (protocol, main_features, overlap, samples) != ("finetuning", 1, 1.0, 256):
            return shared(1.0, 3.0 + seed, 9.0, 1e-6 - 5e-7 * size(effect, seed))
        after = 6 * (0.9 + d) if rescale > 1 else 6 * (0.9 - d)
        return shared(6.0, after, after * (0.9 + d))

    def shared(start, end, ensd, off=0.0):
        cka = ensd / np.sqrt(start * end) / (1 + off)
        return {"participation_ratio_start": start, "participation_ratio": end, "ensd": ensd, "cka": cka}

    scales = {"initial_scale": [1e-3, 0.1, 1.0], "main_features": [6, 1000], "samples": [16, 64, 1024]}
    grid = {"protocol": ["single_task", "finetuning"], "rescale": [0.1, 1.0, 10.0], "main_features": [1, 6]}
    return {
        "regimes": dataset(regimes, {"protocol": ["single_task"]} | scales),
        "nested": dataset(nested, grid | {"overlap": [0.0, 1.0], "samples": [16, 256]}),
    }


MADE = {
    "relu_sharing": sharing,
    "relu_nesting": nesting,
    "relu_richness": richness,
    "relu_clusters": clusters,
    "relu_dimensionality": dimensionality,
}
