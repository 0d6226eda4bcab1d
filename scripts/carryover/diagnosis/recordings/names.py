"""Submodules by the names that they have without wrappers, and which of them, which call and which entry is meant.

`DataParallel` puts `module.` before every name, `torch.compile` `_orig_mod.`, PEFT `base_model.model.`, and where PEFT
adapts a layer, the layer's own weights move to `base_layer`. A plain name means the same place in all of them; of an
adapted layer it means the whole, with its adapter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase

from torch import nn
from torch.optim.swa_utils import AveragedModel

from carryover.errors import UserError

TAKEN = ("sample", "sample_id", "id")
_WRAPPERS = (nn.DataParallel, nn.parallel.DistributedDataParallel, AveragedModel)
_UNNAMED = ("_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module")
_CORES = ("base_layer", "original_module")  # of a layer that PEFT has wrapped, beside its adapters
_CHOICE = re.compile(r"(?P<part>.+?)(?:@(?P<call>\d+))?(?::(?P<entry>[^:]+))?")
_PATTERN = re.compile(r"[*?\[]")


@dataclass(frozen=True)
class Place:
    """What one recorded layer is: an output, or an entry of it, of one call of a submodule.

    Attributes: name, as it stands in the recording; part, the submodule; call, its index among the calls of `part` in
    one call of the network, None where there must be one only; entry of a tuple (a number) or of a mapping; matched:
    by a pattern, so that it may be left out.
    """

    name: str
    part: nn.Module
    call: int | None = None
    entry: str | None = None
    matched: bool = False


def chosen(module: nn.Module, names: str | Sequence[str]) -> list[Place]:
    """The places that `names` mean, each once. Raises UserError for a name that is none, saying which are close."""
    if not isinstance(names, Iterable) or not names:
        raise UserError(f"names must be one submodule or several, got {names!r}")
    plain = submodules(module)
    short = {part: name for name, part in plain.items()}
    parts = {name: part for name, part in module.named_modules() if name} | plain
    places: dict[str, Place] = {}
    for name in [names] if isinstance(names, str) else list(names):
        if not isinstance(name, str) or not name or name in TAKEN:
            raise UserError(
                f"names must be submodules other than the whole module and {', '.join(TAKEN)}, got {name!r}"
            )
        choice = None if name in parts else _CHOICE.fullmatch(name)
        stem, call, entry = choice.group("part", "call", "entry") if choice else (name, None, None)
        pattern = bool(_PATTERN.search(stem)) and stem not in parts
        found = [key for key in plain if fnmatchcase(key, stem) and key not in TAKEN] if pattern else [stem]
        if pattern and not found:
            raise UserError(f"names must be submodules, and none is like {stem}; there are: {_some(plain)}")
        if not pattern and stem not in parts:
            close = ", ".join(get_close_matches(stem, plain, n=5, cutoff=0.4)) or _some(plain)
            raise UserError(f"names must be submodules, and {stem} is none; close are: {close}")
        for key in found:
            place_name = short.get(parts[key], key) + name[len(stem) :]
            number = None if call is None else int(call)
            places.setdefault(place_name, Place(place_name, parts[key], number, entry, matched=pattern))
    return list(places.values())


def _some(names: Iterable[str]) -> str:
    listed = list(names)
    return ", ".join([*listed[:5], *(["…"] if len(listed) > 5 else [])]) or "none"


def submodules(module: nn.Module) -> dict[str, nn.Module]:
    """{plain name: submodule} in torch's order, each submodule once, without the network itself and adapters' insides.

    Where several have one name, it is the outermost: a layer with its adapter.
    """
    found: dict[str, nn.Module] = {}
    _walk(module, "", found, set())
    found.pop("", None)
    return found


def _walk(module: nn.Module, name: str, found: dict[str, nn.Module], seen: set[nn.Module]) -> None:
    if module in seen:
        return
    seen.add(module)
    found.setdefault(name, module)
    inner = inside(module)
    if inner:
        _walk(module.get_submodule(inner), name, found, seen)
        return
    children = dict(module.named_children())
    if core := next((child for child in _CORES if child in children), None):
        _walk(children[core], name, found, seen)
        return
    for child, part in children.items():
        if child != "parametrizations":  # they work on weights and not on samples
            _walk(part, f"{name}.{child}" if name else child, found, seen)


def inside(module: nn.Module) -> str | None:
    """Name of the child that a wrapper wraps; None where `module` wraps nothing."""
    if isinstance(module, _WRAPPERS):
        return "module"
    children = dict(module.named_children())
    peft = any(kind.__module__.partition(".")[0] == "peft" for kind in type(module).__mro__)
    for child in (*_UNNAMED, *(("base_model", "model") if peft else ())):
        if child in children:
            return child
    return None


def bare(part: nn.Module) -> nn.Module:
    """A layer without the wrappers around it and the adapters beside it."""
    part = core(part)
    children = dict(part.named_children())
    held = next((children[child] for child in _CORES if child in children), None)
    return part if held is None else bare(held)


def core(module: nn.Module) -> nn.Module:
    """The network without the wrappers around it."""
    while inner := inside(module):
        module = module.get_submodule(inner)
    return module
