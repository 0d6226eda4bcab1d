"""Layer × layer CKA of the stages of two ResNet-18 on 2000 images, against pytorch-cka and torch-cka, on one thread.

All get the same recorded responses: nobody's time has a forward pass in it. torch-cka, and pytorch-cka where it goes by
batches, want networks and a loader: they get ones that hand out slices of what was recorded. The two packages are among
what tests need; without one its rows are left out, and it says so.
"""

import contextlib
import importlib
import io
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

PIXELS, REPEATS = 8, 3
ROUNDING = 1e-5  # largest difference from double precision of what is computed from all samples


def recorded(seed, images):
    """Responses of every stage, {stage: (images, units)}, to images that are noise."""
    import torch

    from carryover.networks.convnet import ResNet18

    network = ResNet18(torch.Generator().manual_seed(seed), classes=10, stem="small").eval()
    inputs = torch.randn(images, 3, PIXELS, PIXELS, generator=torch.Generator().manual_seed(9))
    with torch.no_grad():
        return {name: output.flatten(1).contiguous() for name, output in network.stages(inputs)}


def replay(responses):
    """A network whose layers respond to images from the first to the last of a batch as was recorded."""
    import torch

    class Replay(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.ModuleDict({name: torch.nn.Identity() for name in responses})

        def forward(self, numbers):
            for name, values in responses.items():
                self.layers[name](values[numbers[0] : numbers[-1] + 1])

    return Replay()


def ways(sides, images, batch):
    """{name: a function of nothing that returns the similarities (before, after)}: all samples, then by batches."""
    import torch

    from carryover.diagnosis.layers import layer_similarity

    arrays = [{name: values.numpy() for name, values in side.items()} for side in sides]
    names = [f"layers.{name}" for name in sides[0]]
    numbers = torch.arange(images)
    found = {
        "ours, all": lambda: layer_similarity(*arrays, debiased=True).values,
        "ours, batches": lambda: layer_similarity(*arrays, batch=batch).values,
    }
    with contextlib.suppress(ModuleNotFoundError):
        pytorch_cka = importlib.import_module("cka")
        loader = torch.utils.data.DataLoader(numbers, batch)
        found["pytorch-cka, all"] = lambda: pytorch_cka.cka_from_features(*(list(side.values()) for side in sides))
        found["pytorch-cka, batches"] = lambda: pytorch_cka.compute_cka(
            *map(replay, sides), loader, layers=names, device="cpu", progress=False
        )[0]
    with contextlib.suppress(ModuleNotFoundError):
        torch_cka = importlib.import_module("torch_cka")
        tuples = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(numbers), batch)

        def by_torch_cka():
            comparison = torch_cka.CKA(*map(replay, sides), "before", "after", names, names)
            with warnings.catch_warnings(), torch.no_grad(), contextlib.redirect_stderr(io.StringIO()):
                warnings.simplefilter("ignore")
                comparison.compare(tuples)
            return comparison.hsic_matrix

        found["torch-cka, batches"] = by_torch_cka
    return found


def compare(images, batch):
    """{name: (least seconds of processor time, similarities)} of every way, and those of double precision."""
    import torch

    sides = [recorded(seed, images) for seed in (0, 1)]
    times, values = {}, {}
    for _ in range(REPEATS):  # in turn, so that a busy machine slows all of them
        for name, way in ways(sides, images, batch).items():
            began = time.process_time()
            values[name] = way()
            times[name] = min(times.get(name, float("inf")), time.process_time() - began)
    values["double"] = exact(*sides)
    return times, {name: torch.as_tensor(similarities).double().numpy() for name, similarities in values.items()}


def exact(before, after):
    """The debiased similarities in double precision, by the sums of Song et al. over kernels without diagonals."""
    import numpy as np

    def kernel(values):
        K = values.double().numpy() - values.double().numpy().mean(axis=0)
        K = K @ K.T
        np.fill_diagonal(K, 0)
        n, sums = len(K), K.sum(axis=0)
        K += sums.sum() / ((n - 1) * (n - 2)) - (sums[:, None] + sums) / (n - 2)
        np.fill_diagonal(K, 0)
        return K.ravel() / np.linalg.norm(K)

    return np.array([kernel(v) for v in before.values()]) @ np.array([kernel(v) for v in after.values()]).T


def measure(smallest=False):
    """A row for each package and way, from a process of its own."""
    images, batch = (40, 20) if smallest else (2000, 250)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        times, values = pool.submit(compare, images, batch).result()
    off = {name: abs(found - values["double"]).max() for name, found in values.items()}
    if off["ours, all"] > ROUNDING:
        raise AssertionError(f"debiased similarities are {off['ours, all']:.1g} off")
    for package in ("pytorch-cka", "torch-cka"):
        theirs = [name for name in times if name.startswith(package)]
        if not theirs:
            print(f"layer × layer CKA is not compared with {package}: pip install {package}", file=sys.stderr)
        for name in theirs:
            ours = name.replace(package, "ours")
            how = "all samples at once" if name.endswith("all") else f"batches of {batch}"
            detail = (
                f"stages of two ResNet-18, {images} images of {PIXELS} × {PIXELS}, {how}: {times[ours]:.2f} s of CPU "
                f"time on one thread against {times[name]:.2f} s; off by {off[ours]:.0e} and {off[name]:.0e} from all "
                f"samples in double precision"
            )
            title = f"layer × layer CKA, beside {package}, {how}"
            yield {"name": title, "ratio": times[name] / times[ours], "at_least": 1, "detail": detail}
