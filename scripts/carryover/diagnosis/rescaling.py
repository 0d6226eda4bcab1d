"""By how much to rescale a pretrained network before it is finetuned, chosen by validation.

"Feature reuse in multi-task learning and finetuning (appendix)", section F, rescales by 0.5 without a search. Here the
factor is searched for a network of one's own:

    choice = choose_factor(make, state, finetune, score)
    print(choice.sentence(), choice.recommended)

`carryover.diagnosis.search` describes how it is searched, in few trainings and with noisy scores.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import chain
from typing import Any

import torch
from torch import Tensor
from torch.nn import Module

from carryover.diagnosis.baseline import normalisations, renew_statistics
from carryover.diagnosis.modules import called
from carryover.diagnosis.search import Choice, search_factor, source_of
from carryover.diagnosis.sources import as_array
from carryover.errors import UserError
from carryover.networks.convnet_weights import KINDS


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
    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        torch.manual_seed(seed)
        yield


def renew(module: Module, batches: Iterable | Callable[[int], Iterable], seed: int) -> None:
    """Compute the running statistics of normalisation layers anew; UserError where there are none, or no batches."""
    if not normalisations(module):
        raise UserError(f"this {type(module).__name__} has no running statistics of batches that could be renewed")
    given = iter(batches(seed) if callable(batches) else batches)
    if (first := next(given, None)) is None:
        raise UserError("renew_statistics gave no batches: give a loader (iterators are used up), or a function")
    renew_statistics(module, partial(called, module), chain([first], given))


def load_rescaled(
    module: Module, state: Mapping[str, Tensor], factor: float, which: str = "weights", head: str | None = None
) -> list[str]:
    """Load pretrained weights into a module, and multiply what is trained of it; returns sentences worth a note.

    Parameters
    ----------
    module
        Changed in place. Buffers are loaded and never scaled, nor are frozen parameters; shared ones are scaled once.
    state
        The pretrained `state_dict` of the same network but for its head. Integer buffers may be missing.
    which
        "all" that is trained, "weights", parameters of two axes or more with the biases of their layers, or "readout",
        the head alone.
    head
        The layer that begins anew. Without a name it is the last, which is kept where `state` has it in its shape.

    Raises
    ------
    UserError
        For another `factor`, `which` or `head`, a `state` of another network, and where there is nothing to multiply.
    """
    if which not in KINDS:
        raise UserError(f"which must be one of {', '.join(KINDS)}, got {which!r}")
    if not (math.isfinite(factor) and factor > 0):
        raise UserError(f"factor must be a finite number above 0, got {factor!r}")
    if not isinstance(state, Mapping):
        raise UserError(f"state must be what state_dict() gives, tensors by name, got a {type(state).__name__}")
    parameters = dict(module.named_parameters(remove_duplicate=False))
    last = next(reversed(module.state_dict()), "").rpartition(".")[0] if head is None else head
    if head is not None and not any(_inside(name, head) for name in parameters):
        layers = dict.fromkeys(name.rpartition(".")[0] for name in reversed(parameters))
        raise UserError(
            f"this {type(module).__name__} has no layer {head!r} with parameters; it has {', '.join([*layers][:3])}, "
            "among others"
        )
    notes = _load(module, parameters, state, last, begins_anew=head is not None)
    chosen = _chosen(parameters, which, last)
    trained = [value for value in chosen if value.requires_grad]
    if not trained:
        raise UserError(f"there is nothing to multiply: this {type(module).__name__} has no {which} that is trained")
    if frozen := len(chosen) - len(trained):
        notes.append(f"{frozen} of {len(chosen)} parameters are frozen and stay as they are.")
    with torch.no_grad():
        for value in trained:
            value.mul_(factor)
    return notes


def _inside(name: str, layer: str) -> bool:
    return name == layer or name.startswith(f"{layer}.") or (layer == "" and "." not in name)


def _load(
    module: Module, parameters: Mapping[str, Tensor], state: Mapping[str, Tensor], head: str, begins_anew: bool
) -> list[str]:
    """Load what fits; the head only where it need not begin anew and fits as a whole."""
    own = module.state_dict()
    in_head = [name for name in own if _inside(name, head)]
    outside = {id(value) for name, value in parameters.items() if name not in in_head}
    tied = [name for name in in_head if id(parameters.get(name)) in outside]
    if begins_anew and tied:
        raise UserError(f"the head {head!r} shares {tied[0]!r} with a pretrained layer: it cannot begin anew")
    fitting = {name: tensor for name, tensor in state.items() if name in own and tensor.shape == own[name].shape}
    loaded = {id(parameters[name]) for name in fitting if name in parameters}

    def found(name: str) -> bool:
        return name in fitting or id(parameters.get(name)) in loaded

    for name, tensor in own.items():
        counts_batches = name not in parameters and not tensor.is_floating_point()
        if not (name in in_head or counts_batches or found(name)):
            what = f"has {name!r} of the shape {tuple(state[name].shape)}" if name in state else f"lacks {name!r}"
            raise UserError(
                f"state {what}, in this {type(module).__name__} of the shape {tuple(tensor.shape)}: give weights of "
                "the same network, of which the last layer alone may be another (name it with head, where it is not "
                "the last)"
            )
    kept = not begins_anew and all(map(found, in_head))  # a bias alone may have the right shape by chance
    module.load_state_dict({k: v for k, v in fitting.items() if kept or k not in in_head}, strict=False)
    if not kept:
        return []
    hint = " with what shares its weights" if tied else f": head={head!r} begins it anew"
    return [f"The last layer, {head!r}, is of the pretrained one's shape and kept{hint}."]


def _chosen(parameters: Mapping[str, Tensor], which: str, head: str) -> list[Tensor]:
    """Parameters to multiply, each once whatever it is shared by."""

    def layer(name: str) -> str:  # whatever makes its weight
        return name.partition(".parametrizations.")[0] if ".parametrizations." in name else name.rpartition(".")[0]

    axes: dict[str, int] = {}
    for name, value in parameters.items():
        axes[layer(name)] = max(axes.get(layer(name), 0), value.ndim)
    found = {}
    for name, value in parameters.items():
        weighs = (axes[layer(name)] if name.endswith("bias") else value.ndim) > 1
        if which == "all" or (weighs if which == "weights" else _inside(name, head)):
            found[id(value)] = value
    return list(found.values())
