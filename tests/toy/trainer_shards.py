"""A tiny shard of several runs for every trainer, and memory that is too small for its ensembles."""

import itertools
import weakref

import torch

from carryover.training import convnet_ensemble, deep_linear, diagonal, population_flow, relu
from carryover.training.relu_flow import _Flow as ReluFlow
from toy import diagonal_toys, mean_field_toys, relu_toys, wide_relu_toys
from toy.shards import shard

SEEDS = (0, 1, 2, 3, 4)


def relu_batches(**options):
    asked = {"samples": (12,), "batch_size": 4, "tolerance": 0.02, "initial_scale": (0.3, 1.0), **options}
    return relu_toys.finetuned(None, "single_task", SEEDS[:3], **asked)


def relu_classes(**options):
    return relu_batches(loss="cross_entropy", **{"tolerance": 0.3, **options})


def wide_relu(**options):
    return wide_relu_toys.finetuned(None, SEEDS, **{"tolerance": 1e-3, **options})


def mean_field_flow(**options):
    return mean_field_toys.pretrained(SEEDS[:3], **{"tolerance": 0.02, "max_time": 20.0, **options})


def mean_field_samples(**options):
    return mean_field_toys.finetuned(None, "single_task", SEEDS, **{"tolerance": 0.01, **options})


def deep_linear_descent(**options):
    asked = {"dimension": 12, "protocol": "single_task", "solver": "descent", "samples": (8,), "depth": (3,),
             "initial_scale": 0.3, "learning_rate": 0.02, "max_steps": 300,
             "tolerance": 0.003, **options}  # fmt: skip
    return shard("deep_linear", "finetune", SEEDS, **asked)


def diagonal_descent(**options):
    asked = {**diagonal_toys.COARSE, "max_steps": 1000, "tolerance": 1e-3, **options}
    return diagonal_toys.finetuned(None, "multi_task", "descent", SEEDS, **asked)


def diagonal_flow(**options):
    asked = {**diagonal_toys.COARSE, "max_steps": 200, **options}
    return diagonal_toys.finetuned(None, "multi_task", "flow", SEEDS, **asked)


def convnets(**options):
    asked = {"protocol": "single_task", "width": 2, "tasks": 2, "samples": (12,), "max_epochs": 3, "batch_size": 6}
    asked |= {"learning_rate": 0.001}  # normalisation of fewer images, or larger steps, would enlarge any rounding
    return shard("convnet", "finetune", SEEDS[:2], **asked | options)


# By trainer that has a device: the shard, and the method of an ensemble that every one of its steps goes through.
TRAINERS = {
    "relu_batches": (relu_batches, relu.Group, "step"),
    "relu_classes": (relu_classes, relu.Group, "step"),
    "wide_relu": (wide_relu, ReluFlow, "advance"),
    "mean_field_flow": (mean_field_flow, population_flow._Flow, "advance"),
    "mean_field_samples": (mean_field_samples, ReluFlow, "advance"),
    "deep_linear_descent": (deep_linear_descent, deep_linear._Group, "epoch"),
    "diagonal_descent": (diagonal_descent, diagonal.DiagonalEnsemble, "correlations"),
    "diagonal_flow": (diagonal_flow, diagonal.DiagonalEnsemble, "correlations"),
    "convnets": (convnets, convnet_ensemble.ConvnetEnsemble, "step"),
}


def scarce(monkeypatch, name, most, begun=3):
    """Let steps of more than `most` networks fail once `begun` were taken; references to the ensembles that failed."""
    _, kind, method = TRAINERS[name]
    usual, count, failed = getattr(kind, method), itertools.count(1), []

    def step(self, *options, **named):
        assert all(ensemble() in (None, self) for ensemble in failed), "memory of a failed ensemble is still taken"
        if len(self) > most and next(count) > begun:
            failed.append(weakref.ref(self))
            raise torch.OutOfMemoryError
        return usual(self, *options, **named)

    monkeypatch.setattr(kind, method, step)
    return failed
