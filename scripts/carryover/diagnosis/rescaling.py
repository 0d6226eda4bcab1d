"""By how much to rescale a pretrained network before it is finetuned, chosen by validation.

"Feature reuse in multi-task learning and finetuning (appendix)", section F, rescales by 0.5 without a search. Here the
factor is searched for a network of one's own:

    choice = choose_factor(make, state, finetune, score)
    print(choice.sentence(), choice.recommended)

How it is searched, in few trainings and with noisy scores, says `carryover.diagnosis.factors.search`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from carryover.diagnosis.activations.sources import as_array
from carryover.diagnosis.factors.choice import Choice, Control
from carryover.diagnosis.factors.modules import check_kind, load_rescaled, renew
from carryover.diagnosis.factors.search import FACTORS, RATES, search_factor, source_of

if TYPE_CHECKING:
    from torch.nn import Module

__all__ = [
    "FACTORS",
    "RATES",
    "Choice",
    "Control",
    "choose_factor",
    "load_rescaled",
    "search_factor",
]


def choose_factor(
    make: Callable[[int], Module],
    state: Mapping,
    finetune: Callable[..., None],
    score: Callable[[Module], float],
    which: str = "weights",
    *,
    head: str | None = None,
    renew_statistics: Iterable | Callable[[int], Iterable] | None = None,
    **search: Any,
) -> Choice:
    """The factor on a pretrained torch module's weights with which finetuning scores highest in validation.

    Args:
        make: gives a new module from a seed, with the initial weights of the layers that finetuning begins anew.
        state: the pretrained `state_dict`, of the same network but for its head.
        finetune: trains a module in place, `finetune(module, seed)`, from a seed for whatever is random; torch's own
            generator is seeded with it, too. If it takes a third argument named `rate`, by which it multiplies its
            learning rate, the search says whether a learning rate gains what the factor does.
        score: of a finetuned module on validation data that `finetune` does not use; higher is better.
        which: what is multiplied, new layers included: "all" that is trained, "weights", all but normalisation layers,
            or "readout", the head alone. `load_rescaled` says what that is; buffers, frozen parameters and the second
            name of shared ones are never scaled.
        head: the layer or module that begins anew, by its name; without one the last layer, which is kept where it has
            the shape of the pretrained one (a sentence says so).
        renew_statistics: batches (a loader), or a function of the seed that gives them, from which the running
            statistics of normalisation layers are computed anew after the weights were rescaled: they are those of
            other weights else. Of a batch that is a list or tuple the network gets the first.
        search: arguments of `search_factor`, such as `journal` and `jobs`.

    Raises:
        UserError: for what `load_rescaled` and `search_factor` refuse.
    """
    check_kind(which)
    with _seeded(0):
        notes = load_rescaled(make(0), state, 1.0, which, head)  # a mistake is told before anything is trained

    def run(factor: float, seed: int, **options: float) -> float:
        with _seeded(seed):
            module = make(seed)
            load_rescaled(module, state, factor, which, head)
            if renew_statistics is not None:
                renew(module, renew_statistics, seed)
            finetune(module, seed, **options)
            return score(module)

    def run_with_rate(factor: float, seed: int, rate: float = 1.0) -> float:
        return run(factor, seed, rate=rate)

    takes_rate = "rate" in inspect.signature(finetune).parameters
    arrays = {name: as_array(name, tensor) for name, tensor in state.items()}
    identity = [arrays, which, head, *(source_of(function) for function in (make, finetune, score))]
    return search_factor(run_with_rate if takes_rate else run, which=which, notes=notes, identity=identity, **search)


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Torch's own generators, of which dropout draws, seeded inside the block and afterwards as they were."""
    import torch

    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        torch.manual_seed(seed)
        yield
