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

    Parameters
    ----------
    make
        Gives a new module from a seed, with the initial weights of the layers that finetuning begins anew.
    state
        The pretrained `state_dict`, of the same network but for its head.
    finetune
        finetune(module, seed) trains a module in place; torch's own generator is seeded, too. If it takes a third
        argument `rate`, a multiple of its learning rate, the factor is compared with learning rates.
    score
        Of a finetuned module on validation data that `finetune` does not use; higher is better.
    which, head
        What is multiplied, and the layer that begins anew, as `load_rescaled` takes them.
    renew_statistics
        Batches, or a function of the seed that gives them, from which running statistics of normalisation are computed
        anew after rescaling, since they are those of other weights.
    search
        Arguments of `search_factor`, such as `journal` and `jobs`.

    Raises
    ------
    UserError
        For what `load_rescaled` and `search_factor` refuse.
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
