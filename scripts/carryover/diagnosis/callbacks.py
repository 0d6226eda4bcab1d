"""Recordings at chosen steps of a training by Lightning or by HuggingFace's Trainer, for `trajectory`.

trainer = lightning.Trainer(callbacks=[lightning_callback("layer*", probe, "recordings", every=100)])
trainer = transformers.Trainer(…, callbacks=[huggingface_callback("bert.encoder.layer.?", probe, "recordings")])

Both write `step_000100.nc` and so on into a folder: what the network makes of the same batches each time. Neither the
network nor the random numbers of the training notice. Where several processes train copies, the first one records; a
network whose parameters are spread over processes cannot be recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from carryover.diagnosis.recording import record
from carryover.diagnosis.recordings.batches import Call, batches, called, generators_kept, home, moved
from carryover.diagnosis.recordings.outputs import Reduction, tensors
from carryover.errors import UserError


class Probe:
    """Records a network's response to fixed batches at chosen steps, each once."""

    def __init__(
        self,
        names: str | Sequence[str],
        loader: Iterable[Any] | Tensor,
        folder: str | Path,
        *,
        every: int = 100,
        steps: Sequence[int] | None = None,
        samples: int = 2000,
        reduce: Reduction = "flatten",
        batch_axis: int | None = None,
        call: Call = called,
    ) -> None:
        """
        Args:
            names, reduce, batch_axis: as `record` takes them.
            loader: batches, as `compare` takes them; the first that have `samples` are kept in memory.
            folder: where the files go.
            every: record at step 0 and at its multiples.
            steps: the steps to record at, in place of `every`.
            call: call(network, batch) returns the network's output.
        """
        for name, number in {"every": every, "samples": samples}.items():
            if isinstance(number, bool) or not isinstance(number, int) or number < 1:
                raise UserError(f"{name} must be a whole number from 1, got {number!r}")
        self.names, self.folder, self.call = names, Path(folder), call
        self.every, self.steps = every, None if steps is None else set(steps)
        self.told: dict[str, Any] = {"reduce": reduce, "batch_axis": batch_axis}
        self.batches = _first(loader, samples)
        self.last: int | None = None

    def at(self, step: int, network: nn.Module) -> None:
        """Record if this step is one of those to record at, and was not recorded before."""
        due = step % self.every == 0 if self.steps is None else step in self.steps
        if not due or step == self.last:
            return
        self.last = step
        file = self.folder / f"step_{step:06d}.nc"
        with generators_kept(home(network)), record(network, self.names, file, **self.told) as see:
            for batch in self.batches:
                see.through(lambda one: self.call(network, one), batch)


def lightning_callback(*probe: Any, **told: Any) -> Any:
    """A callback for Lightning's Trainer; the arguments are those of `Probe`, names those of the LightningModule.

    Raises UserError where Lightning is not installed: `pip install ".[lightning]"` in Carryover's folder.
    """
    base: Any = _framework("lightning", "lightning.pytorch", "lightning").Callback
    probed = Probe(*probe, **told)

    class RecordLayers(base):
        """Records before the first step and after each that is chosen, in the first process."""

        def on_train_start(self, trainer: Any, pl_module: Any) -> None:
            self._record(trainer, pl_module)

        def on_train_batch_end(self, trainer: Any, pl_module: Any, *told: Any) -> None:
            self._record(trainer, pl_module)

        def _record(self, trainer: Any, pl_module: Any) -> None:
            if trainer.is_global_zero:
                probed.at(trainer.global_step, pl_module)

    return RecordLayers()


def huggingface_callback(*probe: Any, **told: Any) -> Any:
    """A callback for HuggingFace's Trainer; the arguments are those of `Probe`.

    Raises UserError where transformers is not installed: `pip install ".[huggingface]"` in Carryover's folder.
    """
    base: Any = _framework("transformers", "transformers", "huggingface").TrainerCallback
    probed = Probe(*probe, **told)

    class RecordLayers(base):
        """Records before the first step and after each that is chosen, in the first process."""

        def on_train_begin(self, args: Any, state: Any, control: Any, **held: Any) -> None:
            self._record(state, held["model"])

        def on_step_end(self, args: Any, state: Any, control: Any, **held: Any) -> None:
            self._record(state, held["model"])

        def _record(self, state: Any, model: Any) -> None:
            if state.is_world_process_zero:
                probed.at(state.global_step, model)

    return RecordLayers()


def _framework(name: str, module: str, extra: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise UserError(
            f'{name} is not installed ({error}): in Carryover\'s folder, `pip install ".[{extra}]"` brings it'
        ) from None


def _first(loader: Any, samples: int) -> list[Any]:
    """The batches of the first samples, on the CPU, taken once: a loader may shuffle."""
    held, seen = [], 0
    with generators_kept():
        for batch in batches(loader):
            held.append(moved(batch, torch.device("cpu")))
            seen += next((len(one) for one in tensors(batch) if one.ndim), 1)
            if seen >= samples:
                break
    if not held:
        raise UserError("loader gives no batches")
    return held
