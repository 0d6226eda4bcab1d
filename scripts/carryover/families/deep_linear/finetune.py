"""Everything that is trained on the target task: from a pretrained network or from scratch, all layers or the readout
alone. `p` are the stage's parameters, `shard` is a `stages.Shard`."""

from functools import partial
from itertools import product

import numpy as np
from numpy.random import Generator

from carryover.config.parameters import parameter_schema
from carryover.errors import UserError
from carryover.families.deep_linear import pretrain
from carryover.families.stages import Batch, cartesian_product
from carryover.networks.deep_linear import Weights
from carryover.streams import generator
from carryover.training.linear_flow import Factored
from carryover.training.result import Samples


def problems(p, shard):
    """A batch for each number of samples and depth.

    Runs of a seed with equal numbers of samples have the same inputs and noise unless they differ in a parameter of
    `own_draws`. Those of different numbers of samples are independent.
    """
    runs, spectrum = _columns(p, shard), pretrain.eigenvalues(p)
    teacher = _targets(p, shard, runs)
    # One data set for each seed, initial scale and combination of the values of `own_draws`: solvers of linear transfer
    # take the runs of a set to start from one network. Those that differ in the scale alone are drawn alike.
    own = [name for name in p.own_draws if name != "depth" and np.isfinite(runs[name]).all()]
    scales = np.nan_to_num(runs["pretrain_scale"])
    keys = list(zip(runs["seed"].tolist(), scales.tolist(), *(runs[name].tolist() for name in own), strict=True))
    distinct = list(dict.fromkeys(keys))
    sets = np.array([distinct.index(key) for key in keys])  # number of each run's data set
    # depths that are trained on the same draws
    groups = [(depth,) for depth in p.depth] if "depth" in p.own_draws else [p.depth]
    trained = p.trained_layers if p.protocol == "linear_transfer" else (None,)  # last layers, None for all
    for samples, depths in product(p.samples, groups):
        shared = {"samples": samples} | ({"depth": depths[0]} if "depth" in p.own_draws else {})
        draws = [(shared | dict(zip(own, values, strict=True)), seed) for seed, _, *values in distinct]
        inputs, noise = (
            np.stack([generator(shard.experiment, *draw, stream).standard_normal(shape) for draw in draws])
            for stream, shape in (("inputs", (samples, p.dimension)), ("noise", samples))
        )
        inputs = inputs * np.sqrt(spectrum)
        clean = np.stack([inputs[s] @ beta for s, beta in zip(sets, teacher, strict=True)])
        task = Samples(inputs, clean + runs["noise"][:, None] * noise[sets], sets)
        data, sizes = [Factored.of(X) for X in inputs], {"samples": samples, "gamma": samples / p.dimension}
        for depth, last in product(depths, trained):
            frozen = depth - (last or depth)
            start, coefficients, features = _start(p, shard, depth, runs)
            problem = pretrain.Problem(
                task, data, start, coefficients, teacher, depth, spectrum, runs["ridge"], runs["weight_decay"], frozen
            )
            columns = runs | {"relation": p.relation, **sizes, "depth": depth, "frozen": frozen}
            yield Batch(problem, columns, partial(pretrain.variables, problem, features), pretrain.MEANING)


def _columns(p, shard):
    """{coordinate: (runs,) values} of every run of the parameters, in a fixed order; NaN where it has no value.

    There are runs from pretrained networks of every initial scale.
    Raises UserError if the relation is that of leading or trailing directions and one of these sets is empty.
    """
    if p.relation in ("leading", "trailing") and not 0 < p.leading < p.dimension:
        raise UserError(f"relation {p.relation} needs leading from 1 to below dimension, not {p.leading}.")
    # Some parameters are used by some relations only; for all other relations they are NaN.
    relations = {name: about["when"].get("relation") for name, about in parameter_schema(type(p)).items()}  # type: ignore[arg-type]
    own = {name: p.relation in needed for name, needed in relations.items() if needed}
    names = (*(name for name in own if own[name]), "source_norm", "noise", "ridge", "weight_decay")
    scales = (np.nan,) if shard.pretrained is None else np.unique(shard.pretrained["pretrain_scale"])
    axes = {"pretrain_scale": scales} | {name: getattr(p, name) for name in names}
    runs = cartesian_product(seed=shard.seeds, **axes)
    missing = np.full(len(runs["seed"]), np.nan)
    return runs | {name: missing for name in sorted(own) if not own[name]}


def _targets(p, shard, runs):
    """Coefficients (runs, d) of the targets: at an angle to the source, or the source with a deviation.

    `runs` is {coordinate: (runs,) values}. Deviations are relative to the source's norm: random in all directions, of
    this norm by their mean square ("stretch"), or of exactly this norm in the leading or in the trailing ones.
    """
    places, columns = shard.places(runs["seed"]), {name: values[:, None] for name, values in runs.items()}
    source, orthogonal = shard.draw(pretrain.directions, "teacher", p.dimension)[places].swapaxes(0, 1)
    if p.relation == "angle":
        theta = np.pi * columns["angle"]
        return columns["target_norm"] * (np.cos(theta) * source + np.sin(theta) * orthogonal)
    deviation = shard.draw(Generator.standard_normal, "deviation", p.dimension)[places]
    if p.relation == "stretch":
        deviation = columns["deviation"] * deviation / np.sqrt(p.dimension)
        return columns["source_norm"] * (columns["stretch"] * source + deviation)
    deviation[:, slice(p.leading, None) if p.relation == "leading" else slice(p.leading)] = 0
    norms = np.array([np.linalg.norm(vector) for vector in deviation])[:, None]
    return columns["source_norm"] * (source + columns["deviation"] * deviation / norms)


def _start(p, shard, depth, runs):
    """Initial weights, their coefficients (runs, d), and variables that describe pretrained features.

    Weights are None in the limit of small ones, where all layers have rank one and coefficients determine them.
    """
    pretrained = shard.pretrained
    if pretrained is None:
        if p.solver == "exact":  # the limit of small initial weights
            return None, np.zeros((len(runs["seed"]), p.dimension)), {}
        start = pretrain.small_weights(p, shard, depth, p.initial_scale)[shard.places(runs["seed"])]
        return start, start.coefficients(), {}
    known = {name: runs[name] for name in ("seed", "source_norm", "pretrain_scale")}
    sources = pretrained.isel(run=shard.rows(**known, depth=np.full(len(runs["seed"]), depth)))
    names = ("feature_share", "feature_alignment")
    features = {name: ("run", sources[name].values, sources[name].attrs["long_name"]) for name in names}
    coefficients = sources["coefficients"].values[:, 0].astype(np.float64)
    if "hidden" not in pretrained:
        return None, coefficients, features
    return Weights(sources["hidden"].values[:, : depth - 1], sources["readout"].values), coefficients, features
