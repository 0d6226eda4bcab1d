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


def stages(effect, change=0.1, near=0.2):
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

    grid = {"protocol": ["finetuning"], "task": TASKS, "rescale": [0.25, 0.5, 1.0, 2.0]}
    made = dataset(lambda protocol, **point: values(**point), grid, along="stage")
    return made.assign_coords(stage=STAGES)
