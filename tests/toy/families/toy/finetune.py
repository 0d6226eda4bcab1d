"""Finetuning of toys."""

import numpy as np
from numpy.random import Generator

from carryover.families.stages import Batch
from carryover.families.toy import pretrain


def problems(p, shard):
    teacher = np.stack([pretrain.teacher(p, shard.experiment, seed, p.angle) for seed in shard.seeds])
    start = np.zeros_like(teacher)
    if shard.pretrained is not None:
        start = shard.pretrained["coefficients"].values[shard.rows(seed=shard.seeds)]
    for samples in p.samples:
        X = shard.draw(Generator.standard_normal, "inputs", (samples, p.dimension))
        problem = pretrain.Problem(X, teacher, start)
        runs = {"seed": shard.seeds, "samples": samples, "angle": p.angle}
        yield Batch(problem, runs, pretrain.variables, {"angle": ("angle between the tasks", "rad")})
