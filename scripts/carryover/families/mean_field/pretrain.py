"""Source and target tasks of mean-field ReLU networks, the problem that solvers take, and pretraining.

Networks and teachers are means over their units, f(x) = 1/m Σ_i c_i relu(w_i · x), with |w_i| = 1 and x ~ N(0, I_d):
section 4 of "Features are fate". `p` are the stage's parameters, `shard` is a `stages.Shard`.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from numpy.random import Generator

from carryover.errors import UserError
from carryover.families.stages import Batch, cartesian_product, of_training, single_precision
from carryover.networks.relu import Weights
from carryover.tasks.sparse import unit_vectors
from carryover.theory.kernels import function_moments
from carryover.training.result import Samples

MEANING = {
    "ablated": "fraction of the target's units that the source lacks; NaN from scratch",
    "anchor": "strength of the penalty on the way of the input weights in pretraining, infinite where they stayed; NaN "
    "from scratch",
    "readout": "where the readout's gradient flow starts, or least_squares; empty where more than the readout learns",
    "pretrain_time": "flow time at which pretraining stopped at the latest; NaN from scratch",
    "max_time": "time at which the flow of a readout, or of a network from scratch, ends at the latest; NaN: none",
    "teacher_scale": "factor on the target's coefficients",
    "noise": "standard deviation of the label noise",
    "draw": "number of the data set among those of a seed",
}


@dataclass(frozen=True)
class Problem:
    """Networks to be trained or fitted; run r starts from the network `networks[r]`.

    Weights are those of means over units. The teacher is the source's in pretraining, the target's afterwards. Where
    readouts alone are trained, `max_time` says how long, NaN where `readout` says that they are fitted otherwise; from
    scratch, NaN where there is no end but the tolerance.
    """

    start: Weights  # first (networks, m, d) of unit length, second (networks, 1, m)
    teacher: Weights  # first (networks, m*, d), second (networks, 1, m*)
    networks: np.ndarray  # (runs,)
    task: Samples | None = None  # None where the whole distribution is learned
    anchor: np.ndarray | None = None  # (networks,) of pretraining
    readout: np.ndarray | None = None  # (runs,) as in the parameters
    max_time: np.ndarray | None = None  # (runs,)
    longer: np.ndarray | None = None  # (runs,) the run that goes on where this one ends, −1: none


def problems(p, shard):
    """One network per seed, teacher's scale, ablated fraction, anchor and time, trained on the population loss of its
    source.

    Raises UserError for a fraction that leaves no whole number of units.
    """
    anchors = (np.inf,) if p.solver == "exact" else p.anchor
    columns = cartesian_product(seed=shard.seeds, teacher_scale=p.teacher_scale, ablated=p.ablated, anchor=anchors,
                                pretrain_time=p.max_time)  # fmt: skip
    places, target = shard.places(columns["seed"]), targets(p, shard, columns)
    problem = Problem(
        start=initial(p, shard)[places],
        teacher=sources(p, shard, columns, target),
        networks=np.arange(len(places)),
        anchor=columns["anchor"],
        max_time=columns["pretrain_time"],
        longer=find_longer(columns, "pretrain_time"),
    )
    yield Batch(problem, columns, partial(_variables, problem, target), MEANING)


def find_longer(columns, time):
    """For each run the one with the next larger `time` and the same other `columns`, which can go on from its end;
    −1 for none."""
    longer = np.full(len(columns[time]), -1)
    rest = [name for name in columns if name != time]
    for _, same in pd.DataFrame(columns).sort_values(time).groupby(rest, dropna=False, sort=False):
        longer[same.index[:-1]] = same.index[1:]
    return longer


def _variables(problem, target, trained):
    networks = weights(trained.weights, problem.start.first, target, problem.teacher.second[:, 0])
    return {**of_training(trained), **networks, **size(target)}


def weights(network, start_first, target, source_readout):
    """`Variables` of mean-field networks and of their teachers.

    `network` are trained `Weights` (runs, …), `start_first` (runs, m, d) their input weights before pretraining,
    `target` the `Weights` of the target's teacher, and `source_readout` (runs, m*) the source's coefficients of the
    same units.
    """
    first, unit = ("run", "unit", "input"), ("run", "teacher_unit")
    return single_precision({
        "first": (first, network.first, "input weights, of length 1"),
        "second": (("run", "output", "unit"), network.second, "readout weights; the output is the mean over units"),
        "start_first": (first, start_first, "input weights before pretraining"),
        "teacher_directions": ((*unit, "input"), target.first, "unit vectors of the target's units"),
        "teacher_readout": (unit, target.second[:, 0], "coefficients of the target, which is a mean over units"),
        "source_readout": (unit, source_readout, "coefficients of the source, 0 where a unit is ablated"),
    })  # fmt: skip


def size(target):
    """Variables `target_power`, E f*², and `target_variance` of targets (runs, …)."""
    power, variance = function_moments(target.second[:, 0], target.first)
    return {
        "target_power": ("run", power, "mean square of the target without noise"),
        "target_variance": ("run", variance, "variance of the target without noise, which risks are compared with"),
    }


def as_sum(network):
    """A network that is a mean over m units as a sum of units of length 1/√m, the same function.

    Gradient descent at the rate η moves it as mean-field gradient descent at η m moves the mean.
    """
    scale = np.sqrt(network.first.shape[-2])
    return Weights(network.first / scale, network.second / scale)


def targets(p, shard, networks):
    """Teachers of the target task, equation 17: directions (networks, m*, d) and coefficients c* (networks, 1, m*).

    `networks` has their `seed` and `teacher_scale`, (networks,) each.
    """
    places, scale = shard.places(networks["seed"]), networks["teacher_scale"][:, None, None]
    directions = shard.draw(unit_vectors, "teacher", p.teacher_units, p.dimension)
    readout = shard.draw(Generator.standard_normal, "teacher readout", (1, p.teacher_units))
    return Weights(directions[places], scale * readout[places])


def sources(p, shard, networks, target):
    """Teachers of the source task, equation 16: the target's without a random fraction `ablated` of its units.

    Their coefficients are 0, the others' larger by 1/(1 − ablated), so that it too is a mean over m* units. The units
    that go for a small fraction go for a larger one too. Raises UserError where no whole number of them is left.
    """
    orders = shard.draw(Generator.permutation, "ablation", p.teacher_units)[shard.places(networks["seed"])]
    readout = np.zeros_like(target.second)
    for network, (ablated, order) in enumerate(zip(networks["ablated"], orders, strict=True)):
        left = (1 - ablated) * p.teacher_units
        count = round(left)
        if count < 1 or abs(left - count) > 1e-9 * p.teacher_units:  # decimal fractions are rounded
            given = f"ablated {ablated:g} of {p.teacher_units} teacher_units leaves {left:g}"
            raise UserError(f"{given}: it must be a whole number, 1 at least.")
        units = order[:count]
        readout[network, 0, units] = target.second[network, 0, units] * (p.teacher_units / count)
    return Weights(target.first, readout)


def initial(p, shard):
    """Networks before training from scratch, one a seed: input weights uniform on the sphere, readouts 1e-7 N(0, 1)."""
    first = shard.draw(unit_vectors, "weights", p.width, p.dimension)
    return Weights(first, 1e-7 * shard.draw(Generator.standard_normal, "readout", (1, p.width)))
