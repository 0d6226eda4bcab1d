"""Convolutional networks of one shape, trained in step: one alone, or several at once by `torch.func.vmap`.

Together they share every call of a layer, which pays where images and batches are small: there the calls, and not their
arithmetic, take the time. `make bench` says from which sizes on.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap
from torch.nn import functional as F

from carryover.networks.convnet_weights import packed

Tensors = dict[str, Tensor]


class ConvnetEnsemble:
    """`runs` says which networks of the caller's these are; parameters, buffers and momenta have them as first axis.

    Minimises, by gradient descent with momentum, the mean cross-entropy of every network, summed over tasks. A task has
    images of its own, and outputs of its own (`columns`) that tell its classes apart.

    A network alone is held with channels last on a GPU. With `precision` "bfloat16" layers compute in mixed precision;
    parameters are float32 in any case.
    """

    def __init__(
        self,
        networks: Sequence[nn.Module],
        columns: Sequence[slice],
        *,
        momentum: float = 0.9,
        weight_decay: float = 0.0,
        precision: str = "float32",
        device: torch.device | str = "cpu",
    ) -> None:
        self.runs, self.columns, self.device = np.arange(len(networks)), tuple(columns), torch.device(device)
        self._mixed = precision == "bfloat16"
        self._channels_last = self.device.type == "cuda" and len(networks) == 1
        self._skeleton = copy.deepcopy(networks[0]).to("meta")  # layers without numbers: those are handed to each call
        parameters, buffers = stack_module_state(list(networks))
        self.parameters = {name: self._placed(tensor).requires_grad_() for name, tensor in parameters.items()}
        self.buffers = {name: tensor.to(self.device) for name, tensor in buffers.items()}
        self.optimiser = torch.optim.SGD(
            list(self.parameters.values()), lr=1.0, momentum=momentum, weight_decay=weight_decay
        )

    def __len__(self) -> int:
        return len(self.runs)

    def step(self, images: Sequence[Tensor], labels: Sequence[Tensor], learning_rate: float) -> Tensor:
        """One step on a batch of every task, images (R, b, C, H, W) and labels (R, b); losses (R,) before it."""
        self._skeleton.train()
        losses = self._losses([self._moved(batch) for batch in images], [batch.to(self.device) for batch in labels])
        self.optimiser.zero_grad()
        losses.sum().backward()
        for group in self.optimiser.param_groups:
            group["lr"] = learning_rate
        self.optimiser.step()
        return losses.detach()

    @torch.no_grad()
    def renew_statistics(self, images: Sequence[Tensor]) -> None:
        """Set the running statistics of normalisations to those of these images, (R, b, C, H, W) of every task."""
        self._skeleton.train()
        layers = [module for module in self._skeleton.modules() if isinstance(module, nn.BatchNorm2d)]
        usual = [layer.momentum for layer in layers]
        for layer in layers:
            layer.momentum = 1.0
        self._losses([self._moved(batch) for batch in images], [])
        for layer, momentum in zip(layers, usual, strict=True):
            layer.momentum = momentum

    @torch.no_grad()
    def outputs(self, place: int, images: Tensor) -> Tensor:
        """Outputs (b, k) of the network at `place` to images (b, C, H, W), with the running statistics."""
        self._skeleton.eval()
        state = {name: tensor[place] for name, tensor in (self.parameters | self.buffers).items()}
        with self._autocast():
            return functional_call(self._skeleton, state, self._moved(images[None])[0]).float()

    def normalises(self, images: Tensor) -> bool:
        """Whether a batch (b, C, H, W) gives normalisations the two values per channel that they need in training."""
        try:
            self._skeleton.train()(images.to("meta"))
        except ValueError:
            return False
        return True

    def packed(self, places: Iterable[int]) -> np.ndarray:
        """Parameters and buffers of the networks at `places`, (places, P)."""
        tensors = self.parameters | self.buffers
        names = self._skeleton.state_dict()
        return np.stack([packed({name: tensors[name][place] for name in names}) for place in places])

    def keep(self, which: np.ndarray) -> None:
        """Go on with some of the networks, (R,) bool, alone."""
        rows = torch.from_numpy(np.flatnonzero(which)).to(self.device)
        state = self.state()
        chosen = {kind: {name: tensor[rows] for name, tensor in part.items()} for kind, part in state.items()}
        self.runs = self.runs[which]
        self.load(chosen)

    def state(self) -> dict[str, dict[str, Tensor]]:
        """Everything that the next steps depend on, for `load`."""
        states = {name: self.optimiser.state[tensor] for name, tensor in self.parameters.items()}
        momenta = {name: state["momentum_buffer"] for name, state in states.items() if "momentum_buffer" in state}
        parameters = {name: tensor.detach() for name, tensor in self.parameters.items()}
        return {"parameters": parameters, "buffers": dict(self.buffers), "momenta": momenta}

    def load(self, state: dict[str, dict[str, Tensor]]) -> None:
        """Take over a `state`; `runs` are the caller's to set."""
        for name, tensor in self.parameters.items():
            tensor.requires_grad_(False).set_(self._placed(state["parameters"][name])).requires_grad_()  # type: ignore[call-overload]
            if name in state["momenta"]:
                self.optimiser.state[tensor] = {"momentum_buffer": self._placed(state["momenta"][name])}
        self.buffers = {name: tensor.clone().to(self.device) for name, tensor in state["buffers"].items()}

    def _losses(self, images: list[Tensor], labels: list[Tensor]) -> Tensor:
        """Losses (R,); without labels the layers alone are gone through."""
        if len(self) > 1:
            return vmap(self._loss, randomness="error")(self.parameters, self.buffers, images, labels)
        parameters, buffers = (
            {name: tensor.squeeze(0) for name, tensor in part.items()} for part in (self.parameters, self.buffers)
        )
        return self._loss(parameters, buffers, [batch[0] for batch in images], [batch[0] for batch in labels])[None]

    def _loss(
        self, parameters: Tensors, buffers: Tensors, images: Sequence[Tensor], labels: Sequence[Tensor]
    ) -> Tensor:
        with self._autocast():
            outputs = functional_call(self._skeleton, (parameters, buffers), torch.cat(list(images)))
        if not labels:
            return outputs.sum()
        parts = outputs.float().split([len(batch) for batch in images])
        one, *more = (
            F.cross_entropy(part[:, own], batch)
            for part, own, batch in zip(parts, self.columns, labels, strict=True)
        )  # fmt: skip
        return sum(more, start=one)

    def _autocast(self) -> torch.autocast:
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self._mixed)

    def _moved(self, images: Tensor) -> Tensor:
        return self._placed(images) if self._channels_last else images.to(self.device)

    def _placed(self, tensor: Tensor) -> Tensor:
        """A copy (R, …) on the device; if channels come last, of a view (1, n, C, H, W) they do so in memory."""
        tensor = tensor.detach().to(self.device, copy=True)
        if self._channels_last and tensor.ndim == 5 and len(tensor):
            tensor = tensor[0].contiguous(memory_format=torch.channels_last)[None]
        return tensor
