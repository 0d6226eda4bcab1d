"""Runs of ReLU networks as claims about norms and penalties ask for, with effects of a given size."""

import numpy as np

from toy.made_up_runs import size
from toy.relu_runs import dataset, risks


def penalty(effect, **options):
    # First those that cost more than a new unit.
    similar = {
        (0.8, 0.01): -1.0,
        (0.8, 0.1): -0.9,
        (0.9, 0.01): -0.8,
        (0.9, 0.1): 0.1,
        (0.9, 1.0): 0.2,
        (0.8, 1.0): 0.9,
    }
    benefits = similar | {(1.0, 1.0): 0.91, (1.0, 0.1): 0.92, (1.0, 0.01): 1.0}

    def log_risk(seed, protocol, correlation, magnitude, samples):
        if samples != 512:
            return seed
        gain = size(effect, seed) * benefits[correlation, magnitude] * (protocol != "single_task")
        return magnitude - correlation - gain

    def penalties(seed, protocol, correlation, magnitude, samples):
        benefit = benefits[correlation, magnitude]
        if samples != 512:
            return {"penalty_paired": 1.0 + seed, "penalty_new": 1.0, "penalty_teacher": 9.0}
        # A teacher's is 0.03 of the effect from its bound.
        off = 0.05 - 0.03 * size(effect, seed) if correlation == magnitude == 1 else 9.0
        return {"penalty_paired": 10**-benefit, "penalty_new": 1.0, "penalty_teacher": 10 ** (off - benefit)}

    grid = {"correlation": [0.8, 0.9, 1.0], "magnitude": [0.01, 0.1, 1.0], "samples": [32, 512]}
    finetuned = dataset(penalties, {"protocol": ["finetuning"]} | grid)
    return risks(log_risk, {"protocol": ["single_task", "finetuning"]} | grid, **options) | {"penalty": finetuned}


def norms(effect):
    """Claims on norms are 0.01 of the effect from their bounds, or three times that."""

    def relative(d, samples):
        """log₁₀ of a norm over its teacher's."""
        return -d if samples == 16 else 0.5

    def regimes(seed, protocol, initial_scale, main_features, samples):
        d, wanted = 0.01 * size(effect, seed), initial_scale == 1e-3 and main_features == 6
        found = d if samples == 256 else relative(d, samples)
        balance = 1 + (0.01 - d) * (samples == 64) if wanted else 9.0 + seed
        return {"f1_norm": 3 * 10 ** (found if wanted else seed), "f1_norm_teacher": 3.0, "balance": balance}

    def overlap(seed, protocol, overlap, correlation, samples):
        d, wanted = 0.01 * size(effect, seed), overlap == correlation == 1
        joint = relative(d, samples) if wanted and protocol == "multi_task" else seed
        own = 3 * d * (protocol == "finetuning") if samples == 256 and overlap == 0 and correlation == 1 else seed
        balance = 1.01 - d if wanted and protocol == "multi_task" else 9.0
        return {"f1_norm": 10**own, "f1_norm_teacher": 1.0, "f12_norm": 2 * 10**joint, "f12_norm_teacher": 2.0,
                "balance": balance}  # fmt: skip

    def displacement(seed, protocol, overlap, correlation, samples):
        wanted = overlap == correlation == 1
        found = relative(0.01 * size(effect, seed), samples) if wanted else seed
        return {"penalty": 10**found, "penalty_teacher": 1.0}

    tasks = {"overlap": [0.0, 1.0], "correlation": [0.9, 1.0], "samples": [16, 64, 256]}
    scales = {"initial_scale": [1e-3, 1.0], "main_features": [6, 1000], "samples": [16, 64, 256, 1024]}
    return {
        "regimes": dataset(regimes, {"protocol": ["single_task"]} | scales),
        "norms": dataset(overlap, {"protocol": ["single_task", "finetuning", "multi_task"]} | tasks),
        "displacement": dataset(displacement, {"protocol": ["finetuning"]} | tasks),
    }


def displacement(effect):
    """Excess distances are 0.02 of the effect from their bound, and penalties half a decade from their teacher's."""

    def excess(seed, worst, samples):
        far = 0.1 - 0.02 * size(effect, seed) if worst and samples == 16 else 0.01
        return {"displacement": 1 + far, "penalty": 1.0}

    def overlap(seed, protocol, unit_correlations, samples):
        return excess(seed, unit_correlations == "1 0", samples)

    def nested(seed, protocol, main_features, overlap, rescale, samples):
        worst = main_features == 6 and overlap == 0
        return excess(seed, worst, samples) if rescale == 1 else {"displacement": 9.0, "penalty": 1.0}

    def alone(seed, protocol, main_features, overlap, rescale, samples):
        wanted = (main_features, overlap, rescale, samples) == (1, 0, 1, 512)
        return {"displacement": 1.1 + 0.02 * size(effect, seed) if wanted else seed, "penalty": 1.0}

    def magnitude(seed, protocol, correlation, magnitude, samples):
        wanted = (correlation, magnitude, samples) == (0.8, 0.1, 512)
        return {"penalty": 10 ** (0.5 * size(effect, seed) if wanted else seed), "penalty_teacher": 1.0}

    tuned = {"protocol": ["finetuning"]}
    sizes = {"samples": [16, 512]}
    nests = {"main_features": [1, 6], "overlap": [0.0, 1.0], "rescale": [1.0, 10.0]}
    return {
        "overlap": dataset(overlap, tuned | {"unit_correlations": ["0 0", "1 0", "1 1"]} | sizes),
        "nested": dataset(nested, tuned | nests | sizes),
        "single_new": dataset(alone, tuned | nests | sizes),
        "magnitude": dataset(magnitude, tuned | {"correlation": [0.8, 1.0], "magnitude": [0.01, 0.1, 1.0]} | sizes),
    }


def least_penalty(effect):
    """Gains are the effect times what is predicted, turns the effect apart in decades, and penalties 0.01 of it from
    their bound."""
    gains = {
        (0.6, 0.01): -0.9, (0.6, 0.1): -0.8, (0.6, 1.0): 0.3, (0.8, 0.01): -0.5, (0.8, 0.1): -0.4, (0.8, 1.0): 0.4,
        (1.0, 0.01): 1.0, (1.0, 0.1): 0.9, (1.0, 1.0): 0.8,
    }  # fmt: skip

    def values(seed, protocol, samples, correlation, magnitude):
        gain = gains[correlation, magnitude] * (1 + samples / 1000) * (protocol == "finetuning")
        return {
            "risk_predicted": 10**-gain,
            "risk_found": 10 ** (-gain * size(effect, seed)),
            "penalty": 3 * (1.1 - 0.01 * size(effect, seed)),
            "penalty_least": 3.0,
            "rotation": 0.1 * 10 ** size(effect, seed),
            "rotation_predicted": 0.1 if protocol == "finetuning" else np.nan,
            "unfitted": 1e-9,
        }

    grid = {"correlation": [0.6, 0.8, 1.0], "magnitude": [0.01, 0.1, 1.0], "samples": [5, 8]}
    tuned = {"protocol": ["finetuning"]}

    def apart(seed, **point):
        found = values(seed, **point)
        return found | {"penalty": found["penalty"] * 10 ** -size(effect, seed)}

    return {
        "least": dataset(values, {"protocol": ["single_task", "finetuning"]} | grid),
        "spread": dataset(apart, tuned | grid | {"correlation": [0.6, 0.8], "magnitude": [0.1]}),
    }


MADE = {
    "relu_penalty_risk": penalty,
    "relu_norms": norms,
    "relu_displacement": displacement,
    "relu_least_penalty": least_penalty,
}
