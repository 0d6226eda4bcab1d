"""The authors' networks on CIFAR-100 (Figs. 2h and 8d of "Feature reuse"), from released tables, as datasets like ours.

They were pretrained on 98 classes and finetuned on the two others, with a hundred outputs from the start. A factor
multiplied all parameters and left the running statistics of normalisation as they were. Dimensions are of responses to
1000 training images from which no mean was subtracted, in training mode.
"""

import json

import numpy as np
import pandas as pd
import xarray as xr

LABELS = {"resnet18": "ResNet-18", "vit": "vision transformer"}
STAGES = {"resnet18": ("stem", "layer1", "layer2", "layer3", "layer4", "pooled", "outputs"),
          "vit": ("embedding", *(f"block{number}" for number in range(1, 8)))}  # fmt: skip
"""{network: names of the stages of the table of dimensions, by their number}."""
LEARNED = 0.99  # share of training images with which a network counts as trained to the end
SAME = {"task": 0, "learning_rate": 0.001, "rescaled": "all", "target_classes": "0 1"}


def by_network(data):
    """{role: dataset of runs}, in which each published table is split into one dataset for each of its networks.

    `data` is {role: dataset, or published table as a data frame with a column `network`}. Datasets keep their roles,
    and a network of a table gets the role `<role>_<network>`.
    """
    made: dict = {}
    for role, runs in data.items():
        if isinstance(runs, pd.DataFrame):
            made |= {f"{role}_{network}": as_runs(own) for network, own in runs.groupby("network")}
        else:
            made[role] = runs
    return made


def as_runs(table):
    """A dataset of the runs of one network, from the rows of a data frame.

    Of a table of accuracies it is as the measure `risk` gives it, of one of dimensions, with a row for each `layer`, as
    `stages` does. Coordinates that the tables lack are the same in all runs."""
    network, of_stages = table["network"].iloc[0], "layer" in table
    keys = ["rescale", "samples", "seed"] if of_stages else ["protocol", "rescale", "samples", "seed"]
    if of_stages:
        variables = table.pivot(index=keys, columns="layer")[
            ["participation_ratio_start", "participation_ratio", "ensd"]
        ]
        runs = variables.index.to_frame(index=False).assign(protocol="finetuning")
        names = variables.columns.unique(0)
        values: dict = {name: (("run", "stage"), variables[name].to_numpy()) for name in names}
    else:
        runs = table[keys]
        learned = (table["train_accuracy"] >= LEARNED).astype(int)
        values = {"risk_final": ("run", 1 - table["accuracy"].to_numpy()), "converged": ("run", learned.to_numpy())}
    others = " ".join(map(str, range(2, 100)))
    runs = runs.assign(network=network, source_classes=np.where(runs["protocol"] == "finetuning", others, ""), **SAME)
    coords: dict = {name: ("run", runs[name].to_numpy()) for name in runs}
    coords["network"] = ("run", runs["network"].to_numpy(), {"value_labels": json.dumps(LABELS)})
    stages = {"stage": list(STAGES[network])} if of_stages else {}
    return xr.Dataset(values, coords | stages, {"images": "cifar-100", "published": 1})
