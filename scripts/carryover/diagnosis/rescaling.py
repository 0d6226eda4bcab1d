"""By how much to rescale a pretrained network before it is finetuned, chosen by validation.

"Feature reuse in multi-task learning and finetuning (appendix)", section F, rescales by 0.5 without a search. Here the
factor is searched for a network of one's own:

    choice = choose_factor(make, state, finetune, score)
    print(choice.sentence(), choice.recommended)

`carryover.diagnosis.search` describes how it is searched, with noisy scores.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import Module

from carryover.diagnosis.modules import call_network, restore_random_state
from carryover.diagnosis.networks import renew_statistics as renewed
from carryover.diagnosis.search import Choice, search_factor, source_of
from carryover.diagnosis.sources import as_array
from carryover.errors import UserError
from carryover.networks.convnet_weights import KINDS, inside, rescaled_parameter_names


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
        finetune(module, seed) trains a module in place; generators of Python, NumPy and PyTorch are seeded, too. If it
        takes a third argument `rate`, a multiple of its learning rate, the factor is compared with learning rates.
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
    with restore_random_state(0):
        notes = load_rescaled(make(0), state, 1.0, which, head)  # a mistake is reported before any training

    takes_rate = "rate" in inspect.signature(finetune).parameters

    def run(factor: float, seed: int, rate: float = 1.0) -> float:
        with restore_random_state(seed):
            module = make(seed)
            load_rescaled(module, state, factor, which, head)
            if renew_statistics is not None:
                given = renew_statistics(seed) if callable(renew_statistics) else renew_statistics
                renewed(module, partial(call_network, module), given)
            finetune(module, seed, **({"rate": rate} if takes_rate else {}))
            return score(module)

    arrays = {name: as_array(name, tensor) for name, tensor in state.items()}
    identity = [arrays, which, head, *(source_of(function) for function in (make, finetune, score))]
    as_finetune = run if takes_rate else lambda factor, seed: run(factor, seed)
    return search_factor(as_finetune, which=which, notes=notes, identity=identity, **search)


def load_rescaled(
    module: Module, state: Mapping[str, Tensor], factor: float, which: str = "weights", head: str | None = None
) -> list[str]:
    """Load pretrained weights into a module, and multiply its trained parameters by a factor.

    Parameters
    ----------
    module
        Changed in place. Buffers are loaded and never scaled, nor are frozen parameters; shared ones are scaled once.
    state
        The pretrained `state_dict` of the same network but for its head. Integer buffers may be missing.
    which
        What is multiplied: "all" trained parameters; "weights", those of two axes or more with the biases of their
        layers; or "readout", those of the head alone.
    head
        Name of the layer that keeps its initial weights instead of loading them; None: all layers are loaded.

    Returns
    -------
    Sentences for the user: that some parameters are frozen and were not multiplied, or none.

    Raises
    ------
    UserError
        For another `which` or `head`, a `state` of another network, and where there is nothing to multiply.
    """
    kind = f"this {type(module).__name__}"
    parameters = dict(module.named_parameters(remove_duplicate=False))
    if which not in KINDS or (which == "readout" and head is None):
        raise UserError(f"which must be one of {', '.join(KINDS)}, the last with head=, got {which!r}")
    in_head = {name for name in module.state_dict() if head is not None and inside(name, head)}
    if head is not None and not in_head & parameters.keys():
        layers = dict.fromkeys(name.rpartition(".")[0] for name in reversed(parameters))
        raise UserError(
            f"{kind} has no layer {head!r} with parameters; it has {', '.join([*layers][:3])}, among others"
        )
    # Names may share one parameter, which is known by its identity: loaded or tied under any of its names.
    outside = {id(value) for name, value in parameters.items() if name not in in_head}
    if tied := [name for name in in_head if id(parameters.get(name)) in outside]:
        raise UserError(f"the head {head!r} shares {min(tied)!r} with a pretrained layer: it cannot begin anew")
    wanted = {name: own for name, own in module.state_dict().items() if name not in in_head}
    fitting = {name: state[name] for name, own in wanted.items() if name in state and state[name].shape == own.shape}
    loaded = {id(parameters[name]) for name in fitting if name in parameters}
    for name, own in wanted.items():
        counts_batches = name not in parameters and not own.is_floating_point()  # as `num_batches_tracked`
        if name not in fitting and id(parameters.get(name)) not in loaded and not counts_batches:
            what = f"has {name!r} of the shape {tuple(state[name].shape)}" if name in state else f"lacks {name!r}"
            raise UserError(
                f"state {what}, in {kind} of the shape {tuple(own.shape)}: give weights of the same network, of which "
                "the layer named with head= alone may be another"
            )
    module.load_state_dict(fitting, strict=False)
    chosen = {id(parameters[name]): parameters[name] for name in rescaled_parameter_names(parameters, which, head)}
    trained = [value for value in chosen.values() if value.requires_grad]
    if not trained:
        raise UserError(f"there is nothing to multiply: {kind} has no {which} that is trained")
    with torch.no_grad():
        for value in trained:
            value.mul_(factor)
    frozen = len(chosen) - len(trained)
    return [f"{frozen} of {len(chosen)} parameters are frozen and stay as they are."] if frozen else []
