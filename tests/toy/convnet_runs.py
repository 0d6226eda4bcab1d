"""Runs of convolutional networks as claims about them ask for, with effects of a given size.

Tasks differ by a half, seeds by a tenth.
"""

import numpy as np

from toy.made_up_runs import SEEDS, dataset

TASKS = (0, 1, 2, 3)
SIZES = [4, 16]


def size(effect, seed, task):
    return effect + 0.5 * (-1) ** task + 0.1 * (seed - np.mean(SEEDS))


def risk(effect, trained=True):
    """Where an effect of 1 is: 8 points from the factor on all weights, half as much from scratch and from a part."""

    def values(seed, task, protocol, rescale, rescaled, samples, learning_rate):
        share = 0.5 if protocol == "single_task" or rescaled != "all" else 1.0
        gain = 0.08 * share * size(effect, seed, task) * (rescale == 0.5)
        # What no claim is about must not matter.
        odd = 0.9 if learning_rate != 0.01 or rescale == 0.25 or protocol == "multi_task" else 0.0
        done = trained or rescale != 0.5
        if not trained and protocol == "single_task" and rescale == 0.5:
            gain = -0.3
        return {"risk_final": 0.4 + 0.01 * seed + 0.1 * task / samples - gain + odd, "converged": int(done)}

    told = {"task": TASKS, "samples": SIZES, "rescale": [0.5, 1.0], "rescaled": ["all"], "learning_rate": [0.01]}
    found = dataset(
        values,
        {"protocol": ["finetuning", "single_task"], **told},
        {"protocol": ["finetuning"], **told, "samples": [4], "rescaled": ["weights", "readout"], "rescale": [0.5]},
        {"protocol": ["finetuning"], **told, "learning_rate": [0.001]},
        {"protocol": ["finetuning"], **told, "rescale": [0.25]},
        {"protocol": ["multi_task"], **told, "rescale": [1.0]},
    )
    known = {"network": "resnet18", "target_classes": "3 8"}
    return found.assign_coords({name: ("run", [text] * found.sizes["run"]) for name, text in known.items()})


STAGES = ["layer2", "layer3", "layer4"]


def stages(effect, change=0.1, near=0.2, rates=False):
    """Where an effect of 1 is: dimensions fall by 60 % with factors below 1, by no more than 10 % without."""

    def values(seed, task, rescale):
        start, off = 8.0 + seed, 0.2 * size(effect, seed, task)
        ratio = 1 - change - off if rescale < 1 else 1 - change + off
        shared = near - 0.1 * size(effect, seed, task)  # relative distance of ENSD from PR
        found = {
            "participation_ratio": ratio * start,
            "participation_ratio_start": start,
            "ensd": ratio * start * (1 - shared),
        }
        return {name: [-5.0, value, value] for name, value in found.items()}

    grid = {"protocol": ["finetuning"], "task": TASKS, "learning_rate": [0.01], "rescale": [0.25, 0.5, 1.0, 2.0]}
    grids = [grid, {**grid, "learning_rate": [0.04, 0.16], "rescale": [1.0]}] if rates else [grid]
    made = dataset(lambda protocol, learning_rate, **point: values(**point), *grids, along="stage")
    return made.assign_coords(stage=STAGES)


def pretrained(effect, classes="3 8"):
    """Roles of the claims on a network from ImageNet, where an effect of 1 is, in accuracy: 8 points by the factor 0.5
    and by ImageNet, nothing by other learning rates, and 8 points between a rate and the factor that it stands for."""

    def values(seed, task, protocol, rescale, samples, learning_rate):
        gain = 0.08 * size(effect, seed, task)
        risk = 0.4 + 0.01 * seed - (gain if rescale == 0.5 else 0.0) + (gain if protocol == "single_task" else 0.0)
        return {"risk_final": risk, "converged": 1, "probe_start": 0.6 - 0.01 * seed - gain, "probe": 0.6 - 0.01 * seed,
                "accuracy": 1 - risk}  # fmt: skip

    told = {"task": TASKS, "samples": [64], "learning_rate": [0.01]}
    tuned, plain = ({"protocol": ["finetuning"], **told, "rescale": some} for some in ([0.25, 0.5, 1.0], [1.0]))
    grids = [tuned, {**plain, "learning_rate": [0.04, 0.16]}, {**plain, "protocol": ["single_task"]}]
    both = dataset(values, *grids)
    known = {"network": "efficientnet_lite0", "target_classes": classes}
    both = both.assign_coords({name: ("run", [text] * both.sizes["run"]) for name, text in known.items()})
    sizes = both.isel(run=both["learning_rate"].values == 0.01)
    probe = both.isel(run=both["protocol"].values == "finetuning")
    return {"pairs": both, "sets": both, "sizes": sizes, "probe": probe}
