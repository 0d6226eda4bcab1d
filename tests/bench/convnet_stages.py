"""The measure of a ResNet-18's stages before and after finetuning against the two networks' forward passes alone.

python tests/bench/convnet_stages.py 200    # that many images of 32 × 32 pixels; 2000 if it is left out
"""

import resource
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import torch
import xarray as xr

from carryover.measures import stages
from carryover.networks.convnet import ResNet18
from carryover.networks.convnet_weights import packed
from carryover.tasks.images import images
from carryover.tasks.prepared_images import PreparedImages

IMAGES, TRAINING, BATCH = 2000, 200, 64
AT_LEAST = 0.5  # of the measure's time is forward passes
MEMORY = 4  # GiB, of the whole process


def write_images(folder, count):
    """Random images as CIFAR-100's files hold them."""
    rng = np.random.default_rng(0)
    for name, size in (("train.bin", TRAINING), ("test.bin", count)):
        records = rng.integers(0, 256, (size, 2 + 3 * 32 * 32), dtype=np.uint8)
        records[:, 1] %= 100
        records.tofile(Path(folder) / name)


def shard(networks, stem, folder):
    """What finetuning leaves: one run, from the first network to the second."""
    states = [packed(network.state_dict())[None] for network in networks]
    return xr.Dataset(
        {
            "start_state": (("start_network", "parameter"), states[0]),
            "state": (("run", "parameter"), states[1]),
            "start": ("run", [0]),
            "target_classes": ("run", ["0 1"]),
        },
        attrs={"network": "resnet18", "width": 64, "stem": stem, "channels": 3, "classes": 2, "images": "cifar-100",
               "folder": folder, "other_images": 1, "pixels": 0},
    )  # fmt: skip


def seconds(function):
    """Of the processor, on one thread: what else runs on the machine hardly counts."""
    began = time.process_time()
    function()
    return time.process_time() - began


def compare(stem, count):
    """Seconds of the measure and of the forward passes, and the most memory that the measure's process had, in GiB."""
    torch.set_num_threads(1)
    made = (ResNet18(torch.Generator().manual_seed(seed), 2, stem=stem) for seed in (0, 1))
    networks = [network.eval() for network in made]
    with tempfile.TemporaryDirectory() as folder:
        write_images(folder, count)
        data = shard(networks, stem, folder)
        measured = seconds(lambda: stages.measure(data, stages.Parameters(of="all", count=count, batch=BATCH)))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        inputs = PreparedImages(images("cifar-100", folder, other=True)).batch("test", np.arange(count))
    with torch.inference_mode():
        forward = seconds(lambda: [network(some) for network in networks for some in inputs.split(BATCH)])
    return measured, forward, peak


def measure(count=IMAGES) -> list[dict]:
    """One row for each stem, in processes of their own, one after the other."""
    rows = []
    for stem in ("imagenet", "small"):
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            measured, forward, peak = pool.submit(compare, stem, count).result()
        if peak > MEMORY:
            raise AssertionError(f"stages of a ResNet-18 with the stem {stem} took {peak:.1f} GiB, not {MEMORY}")
        detail = (
            f"{count} images of 32 × 32 pixels: {measured:.1f} s of CPU time on one thread, against {forward:.1f} s of "
            f"the forward passes of both networks, {measured / forward:.2f} times as long; {peak:.1f} GiB at most"
        )
        rows.append({"name": f"stages of a ResNet-18, stem {stem}", "ratio": forward / measured, "at_least": AT_LEAST,
                     "detail": detail})  # fmt: skip
    return rows


if __name__ == "__main__":
    for row in measure(*map(int, sys.argv[1:])):
        print(f"{row['name']}: {row['ratio']:.2f} (at least {row['at_least']})\n    {row['detail']}")
