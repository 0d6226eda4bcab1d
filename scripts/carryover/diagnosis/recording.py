"""Activations of any torch module while it sees its data, in a file or in memory, for `carryover.diagnosis.diagnosis`.

with record(network, ["layer3", "layer4"], "before.nc") as see:
    for images, _ in loader:            # not shuffled: the same samples in the same order for both networks
        see(images)
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import torch
from torch import Tensor, nn

from carryover.diagnosis import outputs
from carryover.diagnosis.modules import Place, bare, core, device_of, moved, places
from carryover.diagnosis.sources import NAMED
from carryover.errors import UserError
from carryover.provenance import writing

_CHUNK = 2**20  # numbers that are stored together
_LEGAL = re.compile(r"\w[\w.:@-]{0,200}")  # a "/" would be a group of the file


@contextmanager
def record(
    module: nn.Module,
    names: str | Sequence[str],
    path: str | Path | None = None,
    *,
    reduce: outputs.Reduction = "flatten",
    batch_axis: int | None = None,
) -> Iterator[See]:
    """Record what submodules of a torch module give out.

    Parameters
    ----------
    module
        Any torch module. Inside the block it is in evaluation mode and its calls record no gradients and run
        uncompiled; at the end, also after an error, its modes are what they were and its hooks are gone.
    names
        Names in `module.named_modules()` without what wrappers add (`DataParallel`, `torch.compile`, PEFT: an adapted
        layer is meant with its adapter). In a pattern, `layer*`, the star stands for anything, dots too; what a pattern
        matches and cannot be recorded is left out with a warning. `lstm:0` and `encoder:last_hidden_state` are entries
        of a tuple or a mapping; `relu@1` is the second call of a submodule.
    path
        netCDF file, `.nc`, written when the block ends well, one batch in memory at a time. None: in memory.
    reduce
        "flatten" keeps every unit; "mean" is over places of (batch, channels, height, width) and over tokens of (batch,
        tokens, features) that the mask counts; "first" and "last" are tokens that count; or a function of the output
        (batch, …).
    batch_axis
        Where layers have the batch. None is 0, and refuses what may have tokens there (`batch_first=False`).

    Yields
    ------
    See
        `see(*inputs, sample_id=None, token_mask=None, **named_inputs)` calls the module, keeps activations and returns
        its output. `sample_id` are numbers or text (batch,), in every call or in none. `token_mask` (batch, tokens) is
        true for tokens that count; without it an input named `attention_mask` is taken. `see.recording` is
        {layer: (samples, units)} in memory.

    Raises
    ------
    UserError
        A ValueError, for a name that is no submodule, for a submodule that is not called once, whose output has no
        batch of the inputs' size, is not finite, or differs in shape between calls, and where nothing was seen.
    """
    if not isinstance(module, nn.Module):
        raise UserError(f"module must be a torch module, got {type(module).__name__}")
    if not callable(reduce) and reduce not in outputs.REDUCTIONS:
        kinds = ", ".join(outputs.REDUCTIONS)
        raise UserError(f"reduce must be one of {kinds}, or a function of the output, got {reduce!r}")
    modes = {part: part.training for part in module.modules()}
    with ExitStack() as stack:
        file = None
        if path is not None:
            if not isinstance(path, str | Path) or Path(path).suffix != ".nc":
                raise UserError(f"path must be where the file goes, text that ends in .nc, got {path!r}")
            file = stack.enter_context(netCDF4.Dataset(stack.enter_context(writing.atomic(Path(path))), "w"))
        see = See(module, places(module, names), Store(file), reduce, batch_axis)
        hooks = see.hooks()
        try:
            module.eval()
            yield see
        finally:
            for hook in hooks:
                hook.remove()
            for part, mode in modes.items():
                part.training = mode
        if not see.samples:
            raise UserError("nothing was seen, so nothing is recorded: call what the block is given")
        if see.left_out:
            more = f"; and {len(see.left_out) - 3} more" if len(see.left_out) > 3 else ""
            reasons = "; ".join([*see.left_out.values()][:3])
            warnings.warn(f"left out of what the pattern matches: {reasons}{more}", stacklevel=3)


class Store:
    """Batches by layer, with `sample_id` where samples have names: in memory, or along `sample` of a netCDF file."""

    def __init__(self, file: netCDF4.Dataset | None) -> None:
        self.samples = 0
        self._file = file
        self._units: dict[str, int] = {}
        self._named = False
        self._parts: dict[str, list[np.ndarray]] = {}

    def append(self, batch: Mapping[str, np.ndarray], ids: Sequence | None) -> None:
        """Raises UserError where a batch does not go with those before it."""
        counts = {name: len(values) for name, values in batch.items()}
        if len(set(counts.values())) > 1:
            raise UserError(f"names must be submodules with the same number of samples, got {counts}")
        count = next(iter(counts.values()))
        if ids is not None and len(ids) != count:
            raise UserError(f"sample_id must name each of the {count} samples, got {len(ids)}")
        if not self.samples:
            self._units, self._named = {name: values.shape[1] for name, values in batch.items()}, ids is not None
            if self._file is not None:
                self._create(self._file, count)
        if (ids is not None) != self._named:
            raise UserError("sample_id must be given in every call or in none")
        if apart := self._units.keys() ^ batch.keys():
            raise UserError(f"names must be submodules that every call reaches, and {min(apart)} is not one")
        for name, values in batch.items():
            if values.shape[1] != self._units[name]:
                raise UserError(
                    f"{name} must have the same units in every call, but has {self._units[name]} and "
                    f"{values.shape[1]}: for batches padded to different lengths take reduce='mean', or pad all of "
                    f"them to one length"
                )
        text = {} if ids is None else {"sample_id": np.array([str(one) for one in np.asarray(ids).tolist()])}
        for name, values in {**batch, **text}.items():
            if self._file is None:
                self._parts.setdefault(name, []).append(values)
            else:
                rows = slice(self.samples, self.samples + count)
                self._file[self._key(name)][rows] = values.astype(object) if name == "sample_id" else values
        self.samples += count

    def _create(self, file: netCDF4.Dataset, batch: int) -> None:
        """Make the file's variables, for batches of this size."""
        file.createDimension("sample", None)
        for name, units in self._units.items():
            key = self._key(name)
            file.createDimension(f"unit of {key}", units)
            chunks = (max(1, min(batch, _CHUNK // units)), units)
            dimensions = ("sample", f"unit of {key}")
            made = file.createVariable(key, "f4", dimensions, chunksizes=chunks, fill_value=False)
            made.setncatts({"long_name": f"activations of {name}", "units": "1", NAMED: name})
        if self._named:
            ids = file.createVariable("sample_id", str, ("sample",))
            ids.setncatts({"long_name": "name of the sample", "units": "1"})

    def _key(self, name: str) -> str:
        legal = name == "sample_id" or _LEGAL.fullmatch(name)
        return name if legal else f"layer number {list(self._units).index(name)}"

    @property
    def recording(self) -> dict[str, np.ndarray]:
        if self._file is not None:
            raise UserError("recording is what is kept in memory, without a path: read the file instead")
        self._parts = {name: [np.concatenate(parts)] for name, parts in self._parts.items()}
        return {name: parts[0] for name, parts in self._parts.items()}


class See:
    """Calls a module and keeps what the places of it give out.

    Attributes: left_out {name: why} of what patterns matched and what cannot be recorded.
    """

    def __init__(
        self, module: nn.Module, places: list[Place], store: Store, reduce: outputs.Reduction, axis: int | None
    ) -> None:
        self.left_out: dict[str, str] = {}
        self._module, self._places, self._store = module, places, store
        self._reduce, self._axis = reduce, axis
        self._tokens_first = outputs.tokens_first(module)
        self._calls: dict[nn.Module, int] | None = None  # how often each part was called, None between calls of `see`
        self._kept: dict[str, np.ndarray] = {}
        self._sizes: tuple[int, ...] = ()
        self._mask: Tensor | None = None
        self._seen = 0

    @property
    def samples(self) -> int:
        """How many were seen."""
        return self._store.samples

    @property
    def recording(self) -> dict[str, np.ndarray]:
        """{layer: (samples, units)}, with `sample_id` where samples have names."""
        return self._store.recording

    def __call__(
        self, *inputs: Any, sample_id: Sequence | None = None, token_mask: Tensor | None = None, **named_inputs: Any
    ) -> Any:
        """The module's output for these inputs."""
        module = self._module
        if isinstance(module, nn.DataParallel):  # its replicas would be seen in any order
            module = module.module
            inputs, named_inputs = moved((inputs, named_inputs), device_of(module))
        return self.through(module, *inputs, sample_id=sample_id, token_mask=token_mask, **named_inputs)

    def through(
        self,
        call: Callable[..., Any],
        *inputs: Any,
        sample_id: Sequence | None = None,
        token_mask: Tensor | None = None,
        **named_inputs: Any,
    ) -> Any:
        """What `call` returns for these inputs, which calls the module or what it consists of."""
        first = next((one for one in outputs.tensors((inputs, named_inputs)) if one.ndim), None)
        self._sizes = _sizes(first, self._axis or 0)
        self._mask = _mask(token_mask, inputs, named_inputs)
        self._calls = {}
        fast = torch.backends.mha.get_fastpath_enabled()  # which may leave submodules out
        # What is compiled runs none of the hooks that came later. Where nothing is, the compiler need not be loaded.
        compiled = "torch._dynamo" in sys.modules
        try:
            torch.backends.mha.set_fastpath_enabled(False)
            with torch.inference_mode(), torch.compiler.set_stance("force_eager") if compiled else nullcontext():
                result = call(*inputs, **named_inputs)
            self._check()
            ordered = {place.name: self._kept[place.name] for place in self._places if place.name in self._kept}
            self._store.append(ordered, sample_id)
            self._seen += 1
        finally:
            torch.backends.mha.set_fastpath_enabled(fast)
            self._calls, self._kept = None, {}
        return result

    def hooks(self) -> list[Any]:
        """Handles of the hooks that keep what each part gives out."""
        by_part: dict[nn.Module, list[Place]] = {}
        for place in self._places:
            by_part.setdefault(place.part, []).append(place)
        return [core(part).register_forward_hook(self._keep(part, mine)) for part, mine in by_part.items()]

    def _keep(self, part: nn.Module, places: list[Place]) -> Callable[..., None]:
        def hook(module: nn.Module, inputs: Any, output: Any) -> None:
            if self._calls is None:
                return  # called by somebody else
            index = self._calls[part] = self._calls.get(part, -1) + 1
            for place in places:
                if place.call in (None, index) and place.name not in self.left_out:
                    try:
                        self._kept[place.name] = self._values(place, output)
                    except UserError as error:
                        self._leave_out(place, error)

        return hook

    def _values(self, place: Place, output: Any) -> np.ndarray:
        tensor = outputs.entry_of(place.name.split(":")[0] if place.entry is None else place.name, output, place.entry)
        tokens = bool(self._tokens_first) and (place.part in self._tokens_first or tensor.ndim == 3)
        tensor = outputs.batch_first(place.name, tensor, self._sizes, self._axis, tokens)
        units = outputs.units(place.name, bare(place.part), tensor, self._reduce, self._mask)
        return units.detach().to("cpu", copy=True).numpy()  # the next layer may overwrite its input

    def _check(self) -> None:
        """Every place was called as often as it must be, and what it gave is finite."""
        for place in self._places:
            count = (self._calls or {}).get(place.part, -1) + 1
            if place.name in self.left_out:
                continue
            if place.matched and not count:
                self._kept.pop(place.name, None)
            elif (count != 1) if place.call is None else (count <= place.call):
                every = ", ".join(f"{place.name.split(':')[0]}@{index}" for index in range(min(count, 3)))
                choice = f": name a call, as {every}" if count > 1 and place.call is None else ""
                wanted = "once" if place.call is None else f"{place.call + 1} times or more"
                self._leave_out(place, UserError(
                    f"names must be submodules that are called {wanted} for each input, {place.name} was {count} "
                    f"times{choice}"
                ))  # fmt: skip
        for name, values in self._kept.items():
            if not np.isfinite(values).all():
                row = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
                raise UserError(
                    f"{name} must be finite in single precision, and is not for sample {self.samples + row}, "
                    f"which is number {row + 1} of call {self._seen + 1}"
                )
        if not self._kept:
            reasons = "; ".join(list(self.left_out.values())[:3]) or "none of them is called"
            raise UserError(f"nothing that the names match can be recorded: {reasons}")

    def _leave_out(self, place: Place, error: UserError) -> None:
        """Leave out what a pattern matched, if it was never in; raise the error otherwise."""
        if not place.matched or self._seen:
            raise error
        self.left_out[place.name] = str(error)
        self._kept.pop(place.name, None)


def _sizes(first: Tensor | None, axis: int) -> tuple[int, ...]:
    """Sizes that the batch may have: along `axis` of the first input, or along its axis 0."""
    if first is None:
        return ()
    return tuple(dict.fromkeys((first.shape[axis], first.shape[0]) if first.ndim > axis else (first.shape[0],)))


def _mask(token_mask: Any, inputs: tuple, named: Mapping[str, Any]) -> Tensor | None:
    """(batch, tokens), true for tokens that count, of what the call says of them."""
    if token_mask is not None:
        return torch.as_tensor(token_mask)
    for held in (named, *inputs):
        if isinstance(held, tuple | list):
            found = _mask(None, tuple(held), {})
        else:
            found = held.get("attention_mask") if isinstance(held, Mapping) else None
        if isinstance(found, Tensor) and found.ndim == 2:
            return found
    return None
