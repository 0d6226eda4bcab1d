"""Activations of any torch module while it sees its data, in a file or in memory, for `carryover.diagnosis.diagnosis`.

with record(network, ["layer3", "layer4"], "before.nc") as see:
    for images, _ in loader:            # not shuffled: the same samples in the same order for both networks
        see(images)
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
import xarray as xr
from torch import Tensor, nn

from carryover.diagnosis.axes import REDUCTIONS, Channels, Reduction, refuse_unbatched, units
from carryover.diagnosis.modules import Place, core, evaluating, explain, places, ready, restore_buffers, tensors
from carryover.errors import UserError
from carryover.provenance import store


@contextmanager
def record(
    module: nn.Module,
    names: str | Sequence[str],
    path: str | Path | None = None,
    *,
    reduce: Reduction = "flatten",
    batch_axis: int | None = None,
    channel_axis: int | None = None,
) -> Iterator[See]:
    """Record what submodules of a torch module give out.

    Parameters
    ----------
    module
        Any torch module. Inside the block it is in evaluation mode and its calls record no gradients and run
        uncompiled; at the end, also after an error, its modes and buffers are what they were.
    names
        Names in `module.named_modules()` without what wrappers add (`DataParallel`, `torch.compile`, PEFT: an adapted
        layer is meant with its adapter). In a pattern, `layer*`, the star stands for anything, dots too; what a pattern
        matches and cannot be recorded is left out with a warning. `lstm:0` and `encoder:last_hidden_state` are entries
        of a tuple or a mapping.
    path
        netCDF file, `.nc`, written when the block ends well.
    reduce
        "flatten" keeps every unit, "mean" is over places, or over tokens that the mask counts; "first" and "last" are
        tokens that count; or a function of the output (batch, …).
    batch_axis
        Where layers have the batch. None is 0, and refuses what may have tokens there (`batch_first=False`).
    channel_axis
        Where layers have channels or features, as 1 or -1. None: it is known of torch's layers, and followed from them.

    Yields
    ------
    See
        `see(*inputs, sample_id=None, token_mask=None, **named_inputs)` calls the module, keeps activations and returns
        its output. `sample_id` are numbers or text (batch,), in every call or in none. `token_mask` (batch, tokens) is
        true for tokens that count; without it inputs named `token_mask` and `attention_mask` count, each for its own
        sequence. `see.recording` is {layer: (samples, units)}.

    Raises
    ------
    UserError
        A ValueError, for a name that is no submodule, for a submodule that is not called once, whose output has no
        batch of the inputs' size, is not finite, or differs in shape between calls, and where nothing was seen.
    """
    if not callable(reduce) and reduce not in REDUCTIONS:
        kinds = ", ".join(REDUCTIONS)
        raise UserError(f"reduce must be one of {kinds}, or a function of the output, got {reduce!r}")
    if path is not None and Path(path).suffix != ".nc":
        raise UserError(f"path must be where the file goes and end in .nc, got {path}")
    ready("the module", module)
    found = places(module, names)
    see = See(module, found, reduce, batch_axis, channel_axis)
    with evaluating(module), restore_buffers(module):
        yield see
    if not see.samples:
        raise UserError("nothing was seen, so nothing is recorded: call what the block is given")
    if see.left_out:
        reasons = "; ".join([*see.left_out.values()][:3]) + "; …" * (len(see.left_out) > 3)
        warnings.warn(f"left out of what the pattern matches: {reasons}", stacklevel=3)
    if path is not None:
        data = xr.Dataset()
        for name, values in see.recording.items():
            meaning = "name of the sample" if name == "sample_id" else f"activations of {name}"
            dimensions = ("sample", f"unit of {name}")[: values.ndim]
            data[name] = (dimensions, values, {"long_name": meaning, "units": "1"})
        with store.atomic(path) as (place,):
            data.to_netcdf(place, engine="netcdf4")


class See:
    """Calls a module and keeps what the places of it give out.

    Attributes: module, which is called; samples, how many were seen; nbytes, how many bytes were kept; left_out
    {name: why} of what patterns matched and what cannot be recorded.
    """

    def __init__(
        self, module: nn.Module, places: list[Place], reduce: Reduction, axis: int | None, channel_axis: int | None
    ) -> None:
        # The replicas of DataParallel would call their hooks in any order.
        self.module: Any = module.module if isinstance(module, nn.DataParallel) else module
        self.samples = self.nbytes = 0
        self.left_out: dict[str, str] = {}
        self._places, self._reduce, self._axis, self._channel_axis = places, reduce, axis, channel_axis
        # Layers with batch_first=False have tokens on axis 0, where other layers have the batch.
        self._tokens_first = any(getattr(part, "batch_first", True) is False for part in module.modules())
        self._batches: dict[str, list[np.ndarray]] = {}  # of each layer the activations (batch, units) of each call

    @property
    def recording(self) -> dict[str, np.ndarray]:
        """{layer: (samples, units)}, with `sample_id` where samples have names."""
        return {name: np.concatenate(batches) for name, batches in self._batches.items()}

    def __call__(
        self, *inputs: Any, sample_id: Sequence | None = None, token_mask: Tensor | None = None, **named_inputs: Any
    ) -> Any:
        """The module's output for these inputs."""

        def call() -> Any:
            with explain():
                return self.module(*inputs, **named_inputs)

        return self.during(call, (inputs, named_inputs), sample_id, token_mask)

    def during(
        self, call: Callable[[], Any], inputs: Any, sample_id: Sequence | None = None, token_mask: Tensor | None = None
    ) -> Any:
        """What `call` returns, which calls the module or what it consists of with these inputs."""
        # The batch may have as many samples as axis 0 or `batch_axis` of the first input of more than one row.
        given = tensors(inputs)
        first = max((one for one in given.values() if one.ndim), key=lambda one: one.shape[0] > 1, default=None)
        sizes = set() if first is None else {first.shape[0], *first.shape[self._axis or 0 :][:1]}
        channels = Channels(self._channel_axis, self._axis or 0)
        counts: Counter[str] = Counter()  # of calls
        kept: dict[str, np.ndarray] = {}

        def keep(place: Place, module: nn.Module, inputs: Any, output: Any) -> None:
            """Forward hook of a place: keep its output (batch, units)."""
            counts[place.name] += 1
            refuse_unbatched(place, output)
            try:
                if place.name == "sample_id":
                    raise UserError("a layer called sample_id cannot be recorded, for names of samples are called so")
                output = self._batch_first(place, output, sizes)
                values = units(place, output, self._reduce, channels, given, token_mask)
                kept[place.name] = (
                    values.detach().to("cpu", copy=True).numpy()
                )  # the next layer may overwrite its input
            except UserError as error:
                self._leave_out(place, error)

        with ExitStack() as stack:
            channels.follow(core(self.module), stack)
            for place in self._places:
                stack.enter_context(core(place.part).register_forward_hook(partial(keep, place)))
            stack.callback(torch.backends.mha.set_fastpath_enabled, torch.backends.mha.get_fastpath_enabled())
            torch.backends.mha.set_fastpath_enabled(False)  # it may leave submodules out
            stack.enter_context(torch.no_grad())  # a module may keep what it makes, for training that follows
            if "torch._dynamo" in sys.modules:  # what is compiled runs none of the hooks that came later
                stack.enter_context(torch.compiler.set_stance("force_eager"))
            result = call()
        for place in self._places:
            count = counts[place.name]
            if count != 1 and (count or not place.matched):
                said = f"names must be submodules that are called once for each input, {place.name} was {count} times"
                self._leave_out(place, UserError(said))
        self._places = [place for place in self._places if place.name not in self.left_out]
        self._append({place.name: kept[place.name] for place in self._places if place.name in kept}, sample_id)
        return result

    def _batch_first(self, place: Place, output: Any, sizes: set[int]) -> Tensor:
        """The output of a layer, or the entry of it that `place` names, with the batch moved to axis 0.

        `sizes` are the batch sizes that the network's inputs allow; any, if it is empty. Raises UserError for an output
        without such a tensor or axis.
        """
        found = tensors(output)
        if place.entry is None and len({id(value) for value in found.values()}) == 1:  # the only one needs no name
            found = {"": next(iter(found.values()))}
        if (entry := place.entry or "") not in found:
            name = place.name.partition(":")[0]
            some = ", ".join(f"{name}:{key}".removesuffix(":") for key in found) or "none fits"
            raise UserError(f"{name} gives a {type(output).__name__}, so say which entry of it: {some}")
        shape, axis = tuple(found[entry].shape), self._axis or 0
        if len(shape) <= axis:
            raise UserError(f"{place.name} must have the batch along axis {axis}, and has the shape {shape}")
        if sizes and shape[axis] not in sizes:
            raise UserError(
                f"{place.name} must have the batch along axis {axis}, and has {shape[axis]} there for {max(sizes)} "
                f"samples, of its shape {shape}: say batch_axis=, or name a layer with one output for each sample"
            )
        if self._tokens_first and self._axis is None and len(shape) == 3:
            raise UserError(
                f"{place.name} may have tokens along axis 0, for its network has layers with batch_first=False: say "
                "batch_axis=1, or batch_axis=0 if its axis 0 is the batch"
            )
        return found[entry].movedim(axis, 0)

    def _leave_out(self, place: Place, error: UserError) -> None:
        """Leave out what a pattern matched, if it was never in; raise the error otherwise."""
        if not place.matched or self.samples:
            raise error
        self.left_out.setdefault(place.name, str(error))

    def _append(self, batch: dict[str, np.ndarray], sample_id: Sequence | None) -> None:
        """Keep the activations {layer: (batch, units)} of one call, with the names `sample_id` of its samples if given.

        Raises UserError if they are empty or not finite, or if layers or their units differ from those of other calls.
        """
        for name, values in batch.items():
            finite = np.isfinite(values).all(axis=1)
            if not finite.all():
                row = int(finite.argmin())
                raise UserError(
                    f"{name} must be finite in single precision, and is not for sample {self.samples + row}, "
                    f"which is number {row + 1} of its batch"
                )
        if not batch:
            reasons = "; ".join(list(self.left_out.values())[:3]) or "none of them is called"
            raise UserError(f"nothing that the names match can be recorded: {reasons}")
        if sample_id is not None:
            batch["sample_id"] = np.array([str(one) for one in np.asarray(sample_id).tolist()])
        counts = {name: len(values) for name, values in batch.items()}
        if len(set(counts.values())) > 1:
            raise UserError(f"layers and sample_id must have the same number of samples, got {counts}")
        units = {name: values.shape[1:] for name, values in batch.items()}
        before = {name: batches[0].shape[1:] for name, batches in self._batches.items()} if self.samples else units
        for name in before | units:
            if before.get(name) != units.get(name):
                raise UserError(
                    f"{name} must be in every call and have the same units, but has {before.get(name)} and "
                    f"{units.get(name)}: for batches padded to different lengths take reduce='mean', or pad all of "
                    "them to one length"
                )
        for name, values in batch.items():
            self._batches.setdefault(name, []).append(values)
        self.samples += next(iter(counts.values()))
        self.nbytes += sum(values.nbytes for values in batch.values())
