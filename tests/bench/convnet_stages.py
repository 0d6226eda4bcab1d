"""The measure of a ResNet-18's stages before and after finetuning against the two networks' forward passes alone."""

import resource
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import torch
import xarray as xr

from carryover.config.parameters import model_of
from carryover.measures import stages
from carryover.networks.convnet import ResNet18
from carryover.networks.convnet_weights import packed
from carryover.tasks.images import images
from carryover.tasks.prepared_images import PreparedImages
from toy.idx_files import packed as packed_bytes

IMAGES, TRAINING, BATCH = 2000, 200, 64
WIDE, NARROW = 0.5, 0.1  # of the measure's time is forward passes, at least; narrow networks have less to do in them
MEMORY = 4  # GiB, of the whole process


def write_cifar(folder, count):
    """Random images as CIFAR-100's files hold them."""
    rng = np.random.default_rng(0)
    for name, size in (("train.bin", TRAINING), ("test.bin", count)):
        records = rng.integers(0, 256, (size, 2 + 3 * 32 * 32), dtype=np.uint8)
        records[:, 1] %= 100
        records.tofile(Path(folder) / name)


def write_idx(folder, count):
    """Random images as Fashion-MNIST's files hold them."""
    rng = np.random.default_rng(0)
    for name, size in (("train", TRAINING), ("t10k", count)):
        (Path(folder) / f"{name}-images-idx3-ubyte").write_bytes(packed_bytes(rng.integers(256, size=(size, 28, 28))))
        (Path(folder) / f"{name}-labels-idx1-ubyte").write_bytes(packed_bytes(rng.integers(10, size=size)))


# set, width, stem, how its images are written, channels, share
SETTINGS = (("cifar-100", 64, "imagenet", write_cifar, 3, WIDE), ("cifar-100", 64, "small", write_cifar, 3, WIDE),
            ("fashion-mnist", 8, "small", write_idx, 1, NARROW))  # fmt: skip


def shard(networks, source, folder):
    """What finetuning leaves: one run, from the first network to the second."""
    states = [packed(network.state_dict())[None] for network in networks]
    return xr.Dataset(
        {
            "start_state": (("start_network", "parameter"), states[0]),
            "state": (("run", "parameter"), states[1]),
            "start": ("run", [0]),
            "target_classes": ("run", ["0 1"]),
        },
        attrs={"network": "resnet18", "width": networks[0].width, "stem": networks[0].stem, "classes": 2,
               "channels": networks[0].channels, "images": source, "folder": folder, "other_images": 1, "pixels": 0},
    )  # fmt: skip


def seconds(function):
    """Of the processor, on one thread: what else runs on the machine hardly counts."""
    began = time.process_time()
    function()
    return time.process_time() - began


def compare(source, width, stem, write, channels, count):
    """Seconds of the measure and of the forward passes, and the most memory that the measure's process had, in GiB."""
    torch.set_num_threads(1)
    made = (ResNet18(torch.Generator().manual_seed(seed), 2, width, stem, channels) for seed in (0, 1))
    networks = [network.eval() for network in made]
    with tempfile.TemporaryDirectory() as folder:
        write(folder, count)
        data = shard(networks, source, folder)
        measured = seconds(
            lambda: stages.measure(data, model_of("measures", "stages")(of="all", count=count, batch=BATCH))
        )
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        inputs = PreparedImages(images(source, folder, other=True)).batch("test", np.arange(count))
    with torch.inference_mode():
        forward = seconds(lambda: [network(some) for network in networks for some in inputs.split(BATCH)])
    return measured, forward, peak


def measure(smallest=False):
    """One row for each setting, in processes of their own, one after the other."""
    count = 20 if smallest else IMAGES
    for source, width, stem, write, channels, at_least in SETTINGS[-1:] if smallest else SETTINGS:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            measured, forward, peak = pool.submit(compare, source, width, stem, write, channels, count).result()
        name = f"stages of a ResNet-18, width {width}, stem {stem}, {source}"
        if peak > MEMORY:
            raise AssertionError(f"{name} took {peak:.1f} GiB, not {MEMORY}")
        detail = (
            f"{count} images: {measured:.1f} s of CPU time on one thread, {2 * count / measured:.0f} a second, against "
            f"{forward:.1f} s and {2 * count / forward:.0f} of the forward passes of both networks, "
            f"{measured / forward:.2f} times as long; {peak:.1f} GiB at most"
        )
        yield {"name": name, "ratio": forward / measured, "at_least": at_least, "detail": detail}
