"""Tiny shards of mean-field ReLU networks for tests."""

from carryover.families.mean_field.parameters import SOLVERS
from toy import shards
from toy.shards import shard

TASK = {"dimension": 4, "width": 12, "teacher_units": 4, "teacher_scale": (2.0,)}
QUICK = {"max_steps": 400, "device": "cpu"}


def pretrained(seeds=(0, 1, 2), **told):
    return shard("mean_field", "pretrain", seeds, **{**TASK, **QUICK, "ablated": (0.25, 0.5), **told})


def finetuned(start=None, protocol="linear_transfer", seeds=(0, 1), **told):
    told = {**TASK, **QUICK, "solver": SOLVERS[protocol][0], "samples": (6,), **told}
    return shard("mean_field", "finetune", seeds, start, protocol=protocol, **told)


def followed(*arguments, **told):
    """The dataset of one number of samples, the problem that the solver is handed, and what it answers."""
    data, ((problem, trained),) = shards.followed(finetuned, *arguments, **told)
    return data, problem, trained


def outputs(network, X):
    """f(x), (..., n), of a mean over units at inputs X (..., n, d)."""
    return network.outputs(X)[..., 0] / network.first.shape[-2]
