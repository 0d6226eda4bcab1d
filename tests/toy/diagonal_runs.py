"""Norms, shares and risks of diagonal networks as claims about what these learn ask for."""

import numpy as np

from toy.made_up_runs import dataset, size

AS_SPARSE, SAME = 0.05, 0.02
"""Distances that claims allow."""
NORMS = ("l1_norm", "l12_norm", "q_norm")


def norms(effect):
    def values(seed, protocol, overlap, samples):
        off = dict.fromkeys(NORMS, 0.0)  # decades above ground truth
        e = size(effect, seed) if overlap == 1 else -size(effect, seed)
        if samples == 4:
            off |= {"l12_norm": -e if protocol == "multi_task" else 9, "q_norm": -e if protocol == "finetuning" else 9}
        if samples == 64 and protocol != "single_task":
            off |= dict.fromkeys(NORMS, SAME * (1 - 0.5 * e))
        if protocol == "single_task":
            # Falls once, or never.
            off |= {
                "l1_norm": {4: 0.0, 16: 1.0, 64: 1.0 + 0.01 * e}[samples],
                "q_norm": e,
                "l12_norm": e,
            }
        return {name: 10.0 ** off[name] for name in NORMS} | {f"{name}_teacher": 1.0 for name in NORMS}

    protocols = ["single_task", "finetuning", "multi_task"]
    return dataset(values, {"protocol": protocols, "overlap": [0.0, 1.0], "samples": [4, 16, 64]})


def sparsity(effect):
    reused = ("finetuning", "multi_task")

    def values(seed, protocol, overlap, samples, **_):
        e = size(effect, seed)
        top = 0.5 + 0.1 * e * (samples != 16) - 0.1 * e * (protocol == "single_task_probe")
        if protocol in reused:
            top += {0.0: -AS_SPARSE * (1 - e), 1.0: 0.1 * e}.get(overlap, 9.0)
        shares = overlap == 0.5 and samples == 4 and protocol in reused
        return {"top_k_variance": np.array([0.0, 0.0, top]), "auxiliary_share": 0.4 + 0.1 * e * shares}

    told = {"protocol": ["single_task", "single_task_probe", *reused], "overlap": [0.0, 0.5, 1.0]}
    runs = dataset(values, told | {"samples": [4, 16, 64], "main_features": [3]}, along="k")
    return runs.assign_coords(k=[1, 2, 3])


def rescaled(effect):
    def values(seed, rescale, main_features, overlap, **_):
        asked = main_features == 16 and overlap == 0
        return {"auxiliary_share": 0.5 - 0.1 * size(effect if asked else -effect, seed) * (rescale == 0.001)}

    told = {"protocol": ["finetuning"], "rescale": [1.0, 0.1, 0.001], "main_features": [1, 16], "overlap": [0.0, 1.0]}
    return dataset(values, told | {"samples": [4, 16, 64]})


def solutions(effect):
    return {"norms": norms(effect), "sparsity": sparsity(effect), "rescaled": rescaled(effect)}


# {(protocol, rescaling, features): what an effect of 1 adds to log₁₀ of the risk}
EFFECTS = {
    ("finetuning", 1.0, 1): 1.0,  # no gain without rescaling
    ("finetuning", 0.001, 1): -3.0,
    ("single_task", 0.001, 1): -5.0,  # more than the gain of finetuned networks, 4
    ("finetuning", 0.001, 16): 1.0,
}


def nested(effect):
    """Risks that an effect takes to either side of every bound; one feature is 16 times as large."""
    bound = {("finetuning", 1.0, 1): np.log10(16) - 0.5}
    bound[("finetuning", 0.001, 1)] = bound[("finetuning", 1.0, 1)]

    def values(seed, protocol, rescale, main_features, overlap, samples):
        asked = overlap == 1 and samples == 16
        point = protocol, rescale, main_features
        log_risk = bound.get(point, 0.0) + size(effect if asked else -effect, seed) * EFFECTS.get(point, 0.0)
        return {"risk_final": 10.0**log_risk}

    told = {"protocol": ["single_task", "finetuning"], "rescale": [1.0, 0.1, 0.001], "main_features": [1, 4, 16]}
    return {"risk": dataset(values, told | {"overlap": [0.0, 1.0], "samples": [4, 16]})}


MADE = {"diagonal_solutions": solutions, "diagonal_nesting": nested}
