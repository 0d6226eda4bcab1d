"""Networks on the target task: trained from scratch, finetuned, with the readout trained alone, or as pretrained."""

from functools import partial

import numpy as np
from numpy.random import Generator

from carryover.families.mean_field import pretrain
from carryover.families.mean_field.parameters import LEARNING
from carryover.families.stages import Piece, cartesian_product, of_training
from carryover.networks.relu import Weights
from carryover.training.result import Task


def problems(p, shard):
    """A piece for each number of samples: every network times `draws` data sets, times the ways to train a readout.

    A data set depends on seed and draw alone, and a smaller one is part of a larger one. A run from scratch has no
    ablated fraction and no anchor (NaN); a network that is left as it is has no samples and no draw (0).
    """
    pretrained = shard.pretrained
    if pretrained is None:
        networks = cartesian_product(seed=shard.seeds, teacher_scale=p.teacher_scale, ablated=[np.nan], anchor=[np.nan])
        start = pretrain.initial(p, shard)[shard.places(networks["seed"])]
    else:
        wanted = pretrained["seed"].isin(shard.seeds) & pretrained["teacher_scale"].isin(p.teacher_scale)
        pretrained = pretrained.isel(run=np.flatnonzero(wanted))
        networks = {name: pretrained[name].values for name in ("seed", "teacher_scale", "ablated", "anchor")}
        start = Weights.of_dataset(pretrained)
    teacher = pretrain.targets(p, shard, networks)
    for samples in p.samples if p.protocol in LEARNING["protocol"] else (0,):
        if samples:
            problem, runs = _problem(p, shard, shard.places(networks["seed"]), samples, start, teacher)
        else:
            problem = pretrain.Problem(start, teacher, np.arange(len(teacher.first)))
            runs = {"draw": 0, "readout": "", "max_time": np.nan}
        columns = {name: values[problem.networks] for name, values in networks.items()} | runs
        columns |= {"samples": samples, "noise": p.noise}
        yield Piece(problem, columns, partial(_variables, p, problem, pretrained), pretrain.MEANING)


def _problem(p, shard, places, samples, start, teacher):
    """The Problem of one number of samples, and {column: (runs,) values} that distinguish the runs of a network.

    `places` (networks,) are those of the networks' seeds. Each seed and draw has its own inputs and noise.
    """

    def drawn(stream, *shape):
        law, draws = Generator.standard_normal, range(p.draws)
        return np.stack([shard.draw(law, stream, shape, condition=draw) for draw in draws], axis=1).reshape(-1, *shape)

    X, noise = drawn("inputs", samples, p.dimension), drawn("noise", samples)
    pairs = [(network, place * p.draws + draw) for network, place in enumerate(places) for draw in range(p.draws)]
    y = np.stack([pretrain.outputs(teacher[network], X[which]) + p.noise * noise[which] for network, which in pairs])
    solvers = [("", np.nan)]  # (readout, max_time)
    if p.protocol == "linear_transfer":
        solvers = [(readout, time) for readout in p.readout
                for time in ((np.nan,) if readout == "least_squares" else p.max_time)]  # fmt: skip
    networks, sets = np.repeat(pairs, len(solvers), axis=0).T
    readout, max_time = (np.tile(values, len(pairs)) for values in zip(*solvers, strict=True))
    task = Task(X, np.repeat(y, len(solvers), axis=0), sets)
    problem = pretrain.Problem(start, teacher, networks, task, readout=readout, max_time=max_time)
    return problem, {"draw": sets % p.draws, "readout": readout, "max_time": max_time}


def _variables(p, problem, pretrained, trained):
    """Variables of training and of the target; of networks as pretrained, the weights as well."""
    which, size = problem.networks, pretrain.size(problem.teacher)
    variables = of_training(trained)
    variables |= {name: (dims, values[which], text) for name, (dims, values, text) in size.items()}
    if pretrained is not None:
        loss = pretrained["loss"].values[which]
        variables["pretrained_loss"] = ("run", loss, "loss of the pretrained network on the source task")
    if p.protocol == "pretrained":
        before, source = pretrained["start_first"].values, pretrained["source_readout"].values
        variables |= pretrain.weights(problem.start, before, problem.teacher, source)
    return variables
