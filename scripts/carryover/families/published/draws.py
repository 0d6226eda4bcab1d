"""What the released code draws of a seed, number by number: tasks, inputs and weights.

Every generator is PyTorch's on the CPU, from `manual_seed(seed)`; the directions of ReLU teachers are SciPy's, from a
generator of NumPy with the same seed. Draws that the released code makes and does not use are made here, too, since
they move the generator: a layer's default initial values, the auxiliary inputs of networks that learn the main task
alone, and the inputs on which pretraining is tested.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import torch
from scipy.stats import ortho_group

from carryover.families.published import protocols
from carryover.networks import diagonal, relu

AUXILIARY_SAMPLES, TEST_SAMPLES = 1024, 10_000
DIMENSION, WIDTH, UNITS = 15, 1000, 6  # of ReLU networks, and units of their auxiliary teacher
DIAGONAL, ACTIVE = 1000, 40  # dimensions of diagonal networks, and those of their auxiliary task
SMALL = 1e-3  # scale of the initial weights


@dataclass(frozen=True)
class Drawn:
    """One run before training: inputs (n, D) and targets (n,) of the auxiliary, main and test samples, its network, and
    the generator's state, from which batches are drawn."""

    auxiliary: tuple[np.ndarray, np.ndarray]
    main: tuple[np.ndarray, np.ndarray]
    test: tuple[np.ndarray, np.ndarray]
    start: Any  # Weights
    generator: torch.Generator
    teacher: np.ndarray  # (D,) coefficients of the main task of diagonal networks, (0,) of ReLU networks


def sphere(generator, samples, dimension):
    """(samples, D) Gaussian inputs, scaled to norm √D."""
    inputs = torch.randn(samples, dimension, generator=generator)
    return inputs / torch.sqrt(torch.mean(inputs**2, dim=-1, keepdim=True))


def signs(generator, count, paired=False):
    """(count,) random signs, or of `paired` ones the opposite of the one before at every second place."""
    drawn = (torch.rand(count, generator=generator) - 0.5).sign()
    return drawn[::2].repeat_interleave(2)[:count] * (-1.0) ** torch.arange(count) if paired else drawn


@cache
def directions(seed):
    """(15, 15) orthonormal directions, of which teacher units are made; SciPy's draw takes a millisecond."""
    return torch.from_numpy(ortho_group.rvs(DIMENSION, random_state=np.random.RandomState(seed))).float()


def layer(generator, outputs, inputs):
    """(outputs, inputs) small weights, of variance 2/inputs, after default values of a layer, which they replace."""
    torch.rand(outputs * inputs, generator=generator)
    return torch.randn(outputs, inputs, generator=generator) * (SMALL * np.sqrt(2 / inputs))


def draw_relu(run, outputs=1, pretrained=None, switches=()):
    """The `Drawn` of a ReLU network and its tasks; the order of the draws is that of the released code.

    Parameters
    ----------
    run : {coordinate: value}
        Without main units the auxiliary task alone is learned, as in pretraining.
    outputs : int
        2 for a network that learns both tasks.
    pretrained : (H, D) array, optional
        Input weights; the readout is drawn once more, after a network that is not used.
    switches : collection of str
        What is as in our own experiments: "signs" come in pairs and are those of the auxiliary units; first "layers"
        alone are rescaled, also from scratch.
    """
    rng, units = torch.Generator().manual_seed(run["seed"]), directions(run["seed"])
    cosines = torch.tensor([float(cosine) for cosine in run["unit_correlations"].split()], dtype=torch.float32)[:, None]
    sizes, k, paired = protocols.coefficients(run), len(cosines), "signs" in switches
    sign = signs(rng, UNITS, paired)
    auxiliary = units[:UNITS], sign * sizes[0]
    related = cosines * units[:k] + torch.sqrt(1 - cosines**2) * units[UNITS : UNITS + k]
    own = signs(rng, k)  # drawn even where paired ones replace them: it moves the generator
    main = (related, (sign[:k] if paired else own) * sizes[1]) if k else auxiliary
    inputs = [sphere(rng, size, DIMENSION) for size in (AUXILIARY_SAMPLES, run["samples"], TEST_SAMPLES)]
    targets = [torch.relu(X @ W.T) @ a for X, (W, a) in zip(inputs, (auxiliary, main, main), strict=True)]
    first, second, scale = layer(rng, WIDTH, DIMENSION), layer(rng, outputs, WIDTH), np.float32(run["rescale"])
    if pretrained is not None:
        first = torch.from_numpy(pretrained)
        second = torch.randn(1, WIDTH, generator=rng) * (SMALL * np.sqrt(2 / WIDTH))
    both = pretrained is None and "layers" not in switches
    start = relu.Weights(first.numpy() * scale, second.numpy() * (scale if both else np.float32(1)))
    return make_draw(inputs, targets, start, rng, np.zeros(0))


def draw_diagonal(run, outputs=1, pretrained=None):
    """A diagonal network and its tasks, as `draw_relu`; `pretrained` are the first layers (2, D) of both paths.

    The main task has the first signs of the auxiliary task.
    """
    rng, features, factor = torch.Generator().manual_seed(run["seed"]), run["main_features"], run["rescale"]
    order, sign = torch.randperm(DIAGONAL, generator=rng), signs(rng, ACTIVE)
    shared, (auxiliary_size, main_size) = round(run["overlap"] * features), protocols.coefficients(run)
    auxiliary, main = torch.zeros(2, DIAGONAL)
    auxiliary[order[:ACTIVE]] = sign * auxiliary_size
    main[torch.cat([order[:shared], order[ACTIVE : ACTIVE + features - shared]])] = sign[:features] * main_size
    main = main if features else auxiliary
    inputs = [sphere(rng, size, DIAGONAL) for size in (AUXILIARY_SAMPLES, run["samples"], TEST_SAMPLES)]
    targets = [X @ teacher for X, teacher in zip(inputs, (auxiliary, main, main), strict=True)]
    # From scratch the released code rescales the first layer twice.
    first = np.full((2, DIAGONAL), SMALL * factor**2) if pretrained is None else pretrained * np.float32(factor)
    second = np.full((outputs, DIAGONAL), SMALL * factor, np.float32)
    start = diagonal.Weights(*first.astype(np.float32), second, second)  # type: ignore[call-arg]
    return make_draw(inputs, targets, start, rng, main.numpy())


def make_draw(inputs, targets, start, rng, teacher):
    """The `Drawn` of `inputs` and `targets`: three tensors each, (n, D) and (n,), of auxiliary, main and test samples.

    `start` are the initial `Weights`, and `teacher` as in `Drawn`. A run without main samples, as in pretraining, has
    the auxiliary samples in their place.
    """
    auxiliary, main, test = ((X.numpy(), y.numpy()) for X, y in zip(inputs, targets, strict=True))
    return Drawn(auxiliary, main if len(main[1]) else auxiliary, test, start, rng, teacher)
