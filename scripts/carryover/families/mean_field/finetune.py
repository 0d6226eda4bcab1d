"""Networks on the target task: trained from scratch, finetuned, with the readout trained alone, or as pretrained.

`p` are the stage's parameters, `shard` is a `stages.Shard`.
"""

from functools import partial

import numpy as np
from numpy.random import Generator

from carryover.families.mean_field import pretrain
from carryover.families.mean_field.parameters import LEARNING
from carryover.families.stages import Batch, cartesian_product, of_training
from carryover.networks.relu import Weights
from carryover.training.result import Samples


def problems(p, shard):
    """Yield a `Batch` for each number of samples. It has a run for each combination of an initial network, one of
    `draws` data sets, and a way of training the readout (its start or fit, and the time at which training ends).

    A data set depends on its seed and draw alone, and a smaller one is part of a larger one. Runs from scratch have NaN
    as ablated fraction and anchor; pretrained networks that are not trained any further have 0 samples and draw 0.
    """
    pretrained = shard.pretrained
    if pretrained is None:  # networks that runs start from
        networks = cartesian_product(seed=shard.seeds, teacher_scale=p.teacher_scale, ablated=[np.nan], anchor=[np.nan],
                                     pretrain_time=[np.nan])  # fmt: skip
        start = pretrain.initial(p, shard)[shard.places(networks["seed"])]
    else:
        wanted = pretrained["seed"].isin(shard.seeds) & pretrained["teacher_scale"].isin(p.teacher_scale)
        pretrained = pretrained.isel(run=np.flatnonzero(wanted))
        names = "seed", "teacher_scale", "ablated", "anchor", "pretrain_time"
        networks = {name: pretrained[name].values for name in names}
        start = Weights.of_dataset(pretrained)
    teacher, learning = pretrain.targets(p, shard, networks), p.protocol in LEARNING["protocol"]
    # A run for each network, data set of its seed, and way to train a readout.
    draws = p.draws if learning else 1
    ways = [("", time) for time in p.scratch_time or (np.nan,)]  # (readout, max_time); NaN: no limit of time
    if p.protocol == "linear_transfer":
        ways = [(readout, time) for readout in p.readout
                for time in ((np.nan,) if readout == "least_squares" else p.max_time)]  # fmt: skip
    places = enumerate(shard.places(networks["seed"]))
    # (network, number of its data set); data sets are numbered by seed and draw
    pairs = [(network, place * draws + draw) for network, place in places for draw in range(draws)]
    # `which` and `sets` (runs,): the network and the data set of each run
    which, sets = np.repeat(pairs, len(ways), axis=0).T
    readout, max_time = (np.tile(values, len(pairs)) for values in zip(*ways, strict=True))
    columns = {name: values[which] for name, values in networks.items()}
    columns |= {"draw": sets % draws, "readout": readout, "max_time": max_time}

    def draw_numbers(stream, *shape):
        """Standard normal numbers (data sets, *shape), each data set's from the generator of its seed and draw."""
        each = [shard.draw(Generator.standard_normal, stream, shape, condition=draw) for draw in range(draws)]
        return np.stack(each, axis=1).reshape(len(shard.seeds) * draws, *shape)

    for samples in p.samples if learning else (0,):
        X, noise = draw_numbers("inputs", samples, p.dimension), p.noise * draw_numbers("noise", samples)
        # `outputs` are sums over units, of which targets are means
        y = np.stack([teacher[network].outputs(X[s])[:, 0] / p.teacher_units + noise[s] for network, s in pairs])
        task = Samples(X, np.repeat(y, len(ways), axis=0), sets)
        problem = pretrain.Problem(
            start, teacher, which, task, readout=readout, max_time=max_time,
            longer=pretrain.find_longer(columns, "max_time"),
        )  # fmt: skip
        runs = columns | {"samples": samples, "noise": p.noise}
        yield Batch(problem, runs, partial(_variables, p, problem, pretrained), pretrain.MEANING)


def _variables(p, problem, pretrained, trained):
    """`Variables` of a `Trained` and of the target; of networks as pretrained, the weights as well.

    `pretrained` is the dataset of the networks that runs start from, None from scratch."""
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
