"""Convolutional networks of one shape, trained in step: one alone, or several side by side in every layer.

Together they share every call of a layer, which pays where images and batches are small: there the calls, and not their
arithmetic, take the time. `make bench` says from which sizes on.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn import functional as F

from carryover.networks.convnet_layers import Dropout, crop_kernels, renewing_statistics
from carryover.networks.convnet_weights import pack

Tensors = dict[str, Tensor]
MOMENTUM = 0.9


class ConvnetEnsemble:
    """Networks like one, with the weights of `states`; `runs` says which of the caller's they are, the first axis of
    parameters, buffers and momenta.

    Minimises, by gradient descent with momentum, the mean cross-entropy of every network, summed over tasks. A task has
    images of its own, and outputs of its own (`columns`) that tell its classes apart.

    What of a kernel meets padding alone, on images of the `shape` (C, H, W), has no gradient, and nothing but the
    weight decay moves it, all of it by one factor: it is left out of the steps. (Most of ResNet-18's weights, on images
    of 8 × 8.)

    Channels come last in memory: so normalisation and pooling take half of their time or less. With `precision`
    "bfloat16" layers compute in mixed precision; parameters are float32 in any case.
    """

    def __init__(
        self, network: nn.Module, states: Sequence[Mapping[str, Tensor]], columns: Sequence[slice],
        shape: tuple[int, ...], *, runs: np.ndarray | None = None, weight_decay: float = 0.0,
        precision: str = "float32", device: torch.device | str = "cpu",
    ) -> None:  # fmt: skip
        self.runs = np.arange(len(states)) if runs is None else runs
        self.columns, self.device = tuple(columns), torch.device(device)
        self._weight_decay, self._mixed = weight_decay, precision == "bfloat16"
        self._skeleton: Any = copy.deepcopy(network)
        self._names = list(self._skeleton.state_dict())  # in the order in which `pack` lays them out
        self._cropped = crop_kernels(self._skeleton, shape)  # {name of a kernel: its (rows, columns) that meet images}
        self._skeleton.to("meta")  # layers without numbers: those are handed to each call
        self._drops = [layer for layer in self._skeleton.modules() if isinstance(layer, Dropout)]
        self.units_dropped = [layer.units for layer in self._drops]  # of every layer that drops half of them
        # Whole parameters before the first step, {name: (R, …)}, as buffers are.
        self._start = self._stack(states, [name for name, _ in network.named_parameters()])
        self._decay = (1.0, 0.0)  # factor on what is left out of the steps, and its momentum
        self.buffers = self._stack(states, [name for name, _ in network.named_buffers()])
        # Those that are trained, (R, …) each.
        self.parameters = {name: _lay_out(self._trainable_part(name, tensor)) for name, tensor in self._start.items()}
        self._velocity = {name: torch.zeros_like(tensor) for name, tensor in self.parameters.items()}

    def __len__(self) -> int:
        return len(self.runs)

    def step(
        self, images: Sequence[Tensor], labels: Sequence[Tensor], learning_rate: float, masks: Sequence[Tensor] = ()
    ) -> Tensor:
        """One step on a batch of every task, images (R, b, C, H, W) and labels (R, b); losses (R,) before it.

        `masks` has a tensor (R, images of all tasks, units) for each dropout layer, of 0 (drop) and 2 (keep, doubled).
        """
        self._skeleton.train()
        for layer, units in zip(self._drops, masks, strict=True):
            layer.kept = units.to(self.device).transpose(0, 1).flatten(1)
        parameters = {name: tensor.detach().requires_grad_() for name, tensor in self.parameters.items()}
        outputs = self._outputs(parameters | self.buffers, torch.cat(list(images), dim=1))
        of_tasks = outputs.split([batch.shape[1] for batch in images])
        parts = [
            F.cross_entropy(part[:, :, own].permute(0, 2, 1), batch.T.to(self.device), reduction="none").mean(0)
            for part, own, batch in zip(of_tasks, self.columns, labels, strict=True)
        ]
        losses = torch.stack(parts).sum(0)
        gradients = torch.autograd.grad(losses.sum(), list(parameters.values()))  # networks share no weights
        weights, velocities = list(self.parameters.values()), list(self._velocity.values())
        torch._foreach_mul_(velocities, MOMENTUM)
        torch._foreach_add_(velocities, gradients)
        if self._weight_decay:
            torch._foreach_add_(velocities, weights, alpha=self._weight_decay)
        torch._foreach_add_(weights, velocities, alpha=-learning_rate)
        # Entries of kernels that are cropped away have no gradient; weight decay multiplies all by one factor.
        factor, momentum = self._decay
        momentum = float(MOMENTUM * momentum + self._weight_decay * factor)
        self._decay = (float(factor - learning_rate * momentum), momentum)
        return losses.detach()

    def renew_statistics(self, images: Sequence[Tensor]) -> None:
        """Set the running statistics of normalisations to those of these images, (R, b, C, H, W) of every task."""
        with renewing_statistics(self._skeleton):
            self._outputs(self.parameters | self.buffers, torch.cat(list(images), dim=1))

    @torch.no_grad()
    def outputs(self, places: np.ndarray, images: Tensor) -> Tensor:
        """Outputs (r, b, k) of the networks at `places` to images (r, b, C, H, W), with the running statistics."""
        self._skeleton.eval()
        state = self.parameters | self.buffers
        if len(places) < len(self):
            rows = torch.from_numpy(places).to(self.device)
            state = {name: tensor[rows] for name, tensor in state.items()}
        return self._outputs(state, images).transpose(0, 1)

    def pack(self) -> np.ndarray:
        """Parameters and buffers of all networks, each flattened in the order of its `state_dict`: (R, P)."""
        # Cropped kernels are trained in part. Their other entries have no gradient, so weight decay alone moved them,
        # by one factor. `_trainable_part` is a view, so the trained entries are written into `whole`.
        whole = dict(self.parameters)
        for name in self._cropped:
            whole[name] = self._start[name] * self._decay[0]
            self._trainable_part(name, whole[name]).copy_(self.parameters[name])
        tensors = whole | self.buffers
        return np.stack([pack({name: tensors[name][run] for name in self._names}) for run in range(len(self))])

    def keep(self, which: Tensor) -> None:
        """Drop the networks that are not in the boolean mask."""
        rows = which.nonzero()[:, 0].to(self.device)
        self.runs = self.runs[which.numpy()]
        for tensors in (self._start, self.buffers, self.parameters, self._velocity):
            tensors.update({name: _lay_out(tensor[rows]) for name, tensor in tensors.items()})

    def _outputs(self, state: Tensors, images: Tensor) -> Tensor:
        """Outputs (b, r, k) of r networks to images (r, b, C, H, W), which they take side by side: (b, r C, H, W)."""
        batch = images.to(self.device).transpose(0, 1).flatten(1, 2).contiguous(memory_format=torch.channels_last)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self._mixed):
            outputs = functional_call(self._skeleton, state, batch)
        return outputs.float().view(len(batch), len(images), -1)

    def _stack(self, states: Sequence[Mapping[str, Tensor]], names: list[str]) -> Tensors:
        return {name: torch.stack([state[name].detach() for state in states]).to(self.device) for name in names}

    def _trainable_part(self, name: str, tensor: Tensor) -> Tensor:
        """A view of the trained entries of a parameter (R, …): all, or those of a kernel that meet the image."""
        return tensor[..., self._cropped[name][0], self._cropped[name][1]] if name in self._cropped else tensor


def _lay_out(tensor: Tensor) -> Tensor:
    """The same parameter in memory of its own, the kernels of convolutions with their channels last."""
    if tensor.ndim < 5:
        return tensor.clone(memory_format=torch.contiguous_format)
    return tensor.movedim(2, -1).clone(memory_format=torch.contiguous_format).movedim(-1, 2)
