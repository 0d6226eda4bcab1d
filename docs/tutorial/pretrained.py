"""What does `compare` say of the networks that config/pretrained.yaml finetunes?

python docs/tutorial/pretrained.py                      # after the run, whose weights it reads
"""

import sys
from pathlib import Path

import pandas as pd
import torch
import xarray as xr

from carryover import compare
from carryover.measures.stages import load, network_and_images, tested_task
from carryover.networks.convnet_weights import packed

COUNT, BATCH = 500, 50  # test images of both classes
LAYERS = ["_blocks.0", "_blocks.4", "_blocks.10", "_blocks.15", "_bn1"]
COLUMNS = ["kept_weighted", "kept_share", "task_before", "task_after", "weight_change"]


def compared(data, run):
    """The diagnosis of one run, with the statistics of normalisation of the same images before and after."""
    classes = str(data["target_classes"].values[run])
    untrained, prepared = network_and_images(data.attrs, "cpu")
    task = tested_task(prepared.images, classes, COUNT)
    states = {
        "before": data["start_state"].values[int(data["start"][run])],
        "after": data["state"].values[run],
        "untrained": packed(untrained.state_dict()),
    }
    networks = {when: network_and_images(data.attrs, "cpu")[0] for when in states}
    for when, state in states.items():
        load(networks[when], state, prepared, task.test, True)
    images, labels = prepared.batch("test", task.test), torch.tensor(task.test_labels)
    batches = list(zip(images.split(BATCH), labels.split(BATCH), strict=True))
    before, after, untrained = networks.values()
    return compare(before, after, batches, layers=LAYERS, reduce="mean", baseline=untrained, progress=False)


torch.set_num_threads(1)
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "results/pretrained")
tables = []
for path in sorted(folder.glob("pretrained_stages/finetune/*/*.nc")):
    with xr.open_dataset(path) as data:
        for run in range(data.sizes["run"]):
            result = compared(data, run)
            named = {name: data[name].values[run].item() for name in ("rescale", "learning_rate", "seed")}
            tables.append(result[["regime", *COLUMNS]].to_dataframe().assign(**named).reset_index())
            print(*(f"{name} {value}" for name, value in named.items()), result.headline, sep=", ", flush=True)
table = pd.concat(tables)
by = ["rescale", "learning_rate", "layer"]
print(table.groupby(by, sort=False)[COLUMNS].mean().round(2).to_string())
print(table.groupby(["rescale", "learning_rate", "regime"]).size().to_string())
