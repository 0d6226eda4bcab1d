"""Everything that is trained on the target task: from a pretrained network or from scratch, all layers or the readout
alone."""

from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np

from carryover.config.parameters import parameter
from carryover.errors import UserError
from carryover.families.contract import Piece
from carryover.families.deep_linear import conditions, dataset, task
from carryover.networks.deep_linear import Weights
from carryover.streams import generator
from carryover.training.factored import Factored

PRETRAINED = ("linear_transfer", "finetuning")
STARTS_FROM = {"protocol": PRETRAINED}
SCRATCH = {"protocol": ("single_task",)}
SIMULATED = {"solver": ("descent", "balanced")}
DESCENT = {"solver": ("descent",)}
OWN_DRAWS = ("depth", "angle", "noise")


@dataclass(frozen=True, kw_only=True)
class Parameters(task.Parameters):
    protocol: str = parameter("finetuning", "finetuning trains all layers of the pretrained network, linear_transfer "
                              "its last ones, as a rule the readout alone, single_task a network from scratch",
                              choices=("single_task", *PRETRAINED), axis=True)  # fmt: skip
    solver: str = parameter("exact", "the limit of vanishing initial weights, gradient descent, or gradient flow of "
                            "balanced networks", choices=("exact", "descent", "balanced"), axis=True)  # fmt: skip
    samples: tuple[int, ...] = parameter((250,), "samples n of the target task", minimum=1)
    relation: str = parameter("angle", "how the target is made of the source: at an angle; stretched, with a random "
                              "rest; plus a difference within the leading directions of the inputs, or in the others",
                              choices=conditions.RELATIONS, axis=True)  # fmt: skip
    angle: tuple[float, ...] = parameter((0.25,), "angle θ between source and target task", minimum=0, maximum=1,
                                         unit="π", when={"relation": ("angle",)})  # fmt: skip
    target_norm: tuple[float, ...] = parameter((1.0,), "norm of the target's coefficients", above=0,
                                               when={"relation": ("angle",)})  # fmt: skip
    stretch: tuple[float, ...] = parameter((1.0,), "factors of the source in the target", above=0,
                                           when={"relation": ("stretch",)})  # fmt: skip
    deviation: tuple[float, ...] = parameter((0.5,), "norm of the rest of the target, in units of the source's",
                                             above=0, when={"relation": conditions.RELATIONS[1:]})  # fmt: skip
    noise: tuple[float, ...] = parameter((0.2,), "standard deviation σ of the label noise", minimum=0)
    own_draws: tuple[str, ...] = parameter((), "what has inputs and label noise of its own at each of its values, so "
                                           "that runs are independent; a seed's are the same at all values of the "
                                           "others", choices=OWN_DRAWS)  # fmt: skip
    truncation: float = parameter(1e-2, "pretrained features below this share of the largest are left out: they vanish "
                                  "with the initial weights", minimum=0, when={"protocol": ("linear_transfer",),
                                                                               "solver": ("exact",)})  # fmt: skip
    trained_layers: tuple[int, ...] = parameter((1,), "last layers that linear_transfer trains; the first are frozen",
                                                minimum=1, when={"protocol": ("linear_transfer",)})  # fmt: skip
    ridge: tuple[float, ...] = parameter((0.0,), "ridge penalties on the readout (eq 12)", minimum=0,
                                         when={"protocol": ("linear_transfer",), "solver": ("exact",)})  # fmt: skip
    weight_decay: tuple[float, ...] = parameter((0.0,), "weight decay of all layers", minimum=0,
                                                when={**SCRATCH, "solver": ("exact", "descent")})  # fmt: skip
    folds: int = parameter(0, "parts into which the samples are split to validate weight decay; 0 for none", minimum=0,
                           when={**SCRATCH, "solver": ("exact",)})  # fmt: skip
    start: str = parameter("random", "weights from scratch: independent, or balanced and of rank one",
                           choices=task.STARTS, when={**SCRATCH, **DESCENT})  # fmt: skip
    initial_scale: float = parameter(1e-5, "their standard deviation, or the norm of each balanced layer", above=0,
                                     when={**SCRATCH, **SIMULATED})  # fmt: skip
    learning_rate: float = parameter(1e-3, "step of gradient descent", above=0, when=DESCENT)
    tolerance: float = parameter(1e-6, "loss above its smallest value at which training stops", above=0, when=SIMULATED)
    max_steps: int = parameter(100_000, "most steps of a network", minimum=1, when=DESCENT)
    device: str = parameter("auto", "where it is trained", choices=("auto", "cpu", "cuda"), when=DESCENT)


def problems(p, shard):
    """A piece for each number of samples and depth.

    The inputs and the noise of a seed are the same for all protocols, strengths, and whatever is not in `own_draws`;
    those of different numbers of samples are independent. Raises UserError for pretrained networks of other sizes,
    depths or source norms.
    """
    shard.check_sizes({"dimension": ("input", p.dimension)})
    experiment, seeds = shard.experiment, shard.seeds
    runs, spectrum = conditions.columns(p, seeds), task.eigenvalues(p)
    teacher = conditions.targets(p, experiment, runs)
    groups = [(depth,) for depth in p.depth] if "depth" in p.own_draws else [p.depth]
    for samples, depths in product(p.samples, groups):
        inputs, noise, sets = _drawn(p, experiment, runs, {"samples": samples, "depth": depths[0]}, spectrum)
        data = [Factored.of(X) for X in inputs]
        clean = np.stack([inputs[s] @ beta for s, beta in zip(sets, teacher, strict=True)])
        targets = clean + runs["noise"][:, None] * noise[sets]
        for depth, frozen in _layers(p, depths):
            start, coefficients, features = _start(p, shard, depth, runs)
            problem = task.Problem(
                data, inputs, targets, sets, start, coefficients, teacher, depth, spectrum, runs["ridge"],
                runs["weight_decay"], frozen,
            )  # fmt: skip
            columns = {"samples": samples, "gamma": samples / p.dimension, "depth": depth, "frozen": frozen,
                       "loss_function": "squared"}  # fmt: skip
            yield Piece(problem, runs | columns, partial(dataset.variables, problem, features), dataset.MEANING)


def check(p):
    """Refuse what has no such solution; UserError."""
    decayed = max(p.weight_decay) > 0
    if p.solver == "exact" and decayed and p.depth != (2,):
        raise UserError("weight_decay has an exact limit at depth 2 alone: set depth to 2, or the solver to descent.")
    if p.solver == "balanced" and p.protocol == "linear_transfer":
        raise UserError("linear_transfer has no solver balanced: choose exact or descent.")
    if p.protocol == "linear_transfer" and max(p.trained_layers) > min(p.depth):
        raise UserError(f"trained_layers has {max(p.trained_layers)}, but depth only {min(p.depth)}.")
    if p.protocol == "linear_transfer" and max(p.trained_layers) > 1 and max(p.ridge) > 0:
        raise UserError("ridge is a penalty on the readout alone: set trained_layers to 1, or ridge to 0.")
    if p.folds == 1 or p.folds > min(p.samples):
        raise UserError(f"folds is {p.folds}: it must be 0, or from 2 to the smallest number of samples.")


def _drawn(p, experiment, runs, shape, spectrum):
    """(inputs (sets, n, d), standard noise (sets, n), (runs,) the set of each run): one for each seed, and for each
    value of what has draws of its own."""
    own = {name: runs[name].tolist() for name in p.own_draws if name != "depth" and np.isfinite(runs[name]).all()}
    fixed = {name: value for name, value in shape.items() if name == "samples" or name in p.own_draws}
    keys = list(zip(runs["seed"].tolist(), *own.values(), strict=True))
    known = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    inputs, noise = [], []
    for seed, *values in known:
        condition = fixed | dict(zip(own, values, strict=True))
        inputs.append(generator(experiment, condition, seed, "inputs").standard_normal((shape["samples"], p.dimension)))
        noise.append(generator(experiment, condition, seed, "noise").standard_normal(shape["samples"]))
    return np.stack(inputs) * np.sqrt(spectrum), np.stack(noise), np.array([known[key] for key in keys])


def _layers(p, depths):
    """(depth, frozen): how many layers there are and how many of the first are not trained, of every kind of run."""
    if p.protocol != "linear_transfer":
        return [(depth, 0) for depth in depths]
    return [(depth, depth - last) for depth in depths for last in p.trained_layers]


def _start(p, shard, depth, runs):
    """Weights or None for rank one, their coefficients (runs, d), and what is known of pretrained features."""
    pretrained = shard.pretrained
    if pretrained is None:
        if p.solver == "exact":  # of vanishing weights
            return None, np.zeros((len(runs["seed"]), p.dimension)), {}
        start = task.small_weights(p, shard.experiment, shard.seeds, depth)
        sets = np.searchsorted(shard.seeds, runs["seed"])
        start = Weights(start.hidden[sets], start.readout[sets])
        return start, start.coefficients(), {}
    known = pretrained.isel(run=_rows(shard, runs, depth))
    features = dataset.features(known["feature_share"].values, known["feature_alignment"].values)
    coefficients = known["coefficients"].values[:, 0].astype(np.float64)
    if "hidden" not in pretrained:
        return None, coefficients, features
    return Weights(known["hidden"].values[:, : depth - 1], known["readout"].values), coefficients, features


def _rows(shard, runs, depth):
    """(runs,) places of the pretrained networks; UserError where there are none of this depth or source norm."""
    wanted = {"depth": np.full(len(runs["seed"]), depth), "source_norm": runs["source_norm"]}
    for name, what in (("depth", "layers"), ("source_norm", "source norms")):
        if len(missing := np.setdiff1d(wanted[name], shard.pretrained[name].values)):
            others = ", ".join(f"{value:g}" for value in np.unique(shard.pretrained[name].values))
            raise UserError(f"{name} is {missing[0]:g}, but the pretrained networks have {others} {what}.")
    return shard.rows(seed=runs["seed"], **wanted)
