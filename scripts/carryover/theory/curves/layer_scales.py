"""Theory curves: what the sizes of the layers before pretraining make of finetuning, see `theory.layer_scales`."""

from typing import Annotated

import numpy as np
from pydantic import Field, PositiveFloat, PositiveInt, model_validator
from scipy.optimize.elementwise import find_root

from carryover.config import plugins
from carryover.config.parameters import Model, Several, parameter
from carryover.errors import UserError
from carryover.labels import make_dataset
from carryover.theory.interpolation import interpolation_risk
from carryover.theory.layer_scales import balanced_flow, finetuning_rates, finetuning_scale, task_kinds


class LayerScales(Model):
    dimension: Several = parameter(200, "input dimensions D")
    auxiliary_features: PositiveInt = parameter(16, "active dimensions of the auxiliary task, ±1/√k each")
    few: PositiveInt = parameter(4, "active dimensions of the main tasks that do not need all of these, ±1/√k each")
    samples: tuple[PositiveInt, ...] = parameter((8, 24, 72), "main-task samples n, fewer than D")
    smallest: PositiveFloat = parameter(1e-3, "smallest scale c = u² + v² of the layers before pretraining")
    largest: PositiveFloat = parameter(10.0, "largest scale")
    smallest_ratio: PositiveFloat = parameter(1e-3, "smallest ratio u/v of the layers before pretraining")
    largest_ratio: PositiveFloat = parameter(10.0, "largest ratio; above 1 it hardly matters")
    points: Several = parameter(11, "scales, and ratios")
    readout: PositiveFloat = parameter(1e-3, "readout weights after pretraining")

    @model_validator(mode="after")
    def check(self):
        """Refuse tasks that there is no room for; UserError."""
        if self.few % 2 or self.few > self.auxiliary_features or self.auxiliary_features + self.few > self.dimension:
            raise UserError("few: it must be even, at most auxiliary_features, and fit with these into dimension.")
        if max(self.samples) >= self.dimension:
            raise UserError(f"samples: they must be fewer than dimension, which is {self.dimension}.")
        return self


@plugins.curve()
def layer_scales(p: LayerScales):
    """Risks over task, samples, scale and ratio, after pretraining that has learned its task exactly, of finetuning, of
    a probe, and from scratch, where the ratio does not count; and the exponents of the penalty of finetuning."""
    scales = np.geomspace(p.smallest, p.largest, p.points)
    ratios = np.geomspace(p.smallest_ratio, p.largest_ratio, p.points)
    shared = {"same": p.auxiliary_features, "nested": p.few, "mixed": p.few / 2, "new": 0.0}  # features of both tasks
    old, own = np.array(list(shared.values())), np.array([p.auxiliary_features, p.few, p.few, p.few])
    counts, task, learned = task_kinds(p.dimension, p.auxiliary_features, own, old)
    counts, beta, learned = counts[:, None, None, None, :], task[:, None, None, None, :], learned[0]
    n, c = np.array(p.samples)[:, None, None], scales[:, None, None]
    balance = c * ((ratios**2 - 1) / (ratios**2 + 1))[:, None]
    squares = 2 * finetuning_scale(learned, c, balance, 0.0)  # u₊² + u₋²
    starts = {
        "finetuning": (*finetuning_rates(learned, c, balance, p.readout), "risk after finetuning"),
        "single_task": (c / 2, c / 2, "risk from scratch, from layers of the same scale"),
    }
    dims = "task", "sample_size", "scale", "ratio"
    risks = {name: interpolation_risk(n, counts, beta, up, down) for name, (up, down, _) in starts.items()}
    # E.g. d log Q / d log β = βz/(βz − √(β² + k²) + k) with sinh z = β/k: 1 is ℓ1, 2 is ℓ2
    k = finetuning_scale(np.array([learned[0], 0.0]), c, balance, p.readout)
    size, k = (own**-0.5)[:, None, None, None], k[None]
    bz = size * np.arcsinh(size / k)
    exponents = bz / (bz - size**2 / (np.hypot(size, k) + k))
    shape = risks["finetuning"].shape
    variables: dict[str, tuple] = {
        name: (dims, np.broadcast_to(risks[name], shape), starts[name][2]) for name in starts
    }
    meaning = "risk of a readout alone on the pretrained features"
    variables["finetuning_probe"] = (dims, _probe_risk(n, counts, beta, squares), meaning)
    for place, name in enumerate(("pretrained", "new")):
        meaning = f"exponent of the penalty of a {name} feature: 1 like ℓ1, 2 like ℓ2"
        variables[f"exponent_{name}"] = (("task", "scale", "ratio"), exponents[..., place], meaning)
    return make_dataset(variables, {
        "task": (np.array(list(shared)), "main task: all pretrained features, few of them, half of them new, all new"),
        "sample_size": (np.array(p.samples), "main-task samples"),
        "scale": (scales, "scale c = u² + v² of the layers before pretraining"),
        "ratio": (ratios, "ratio u/v of first layer and readout before pretraining"),
    })  # fmt: skip


def _probe_risk(n, counts, beta, squares):
    """Risk (…) of the interpolating readout of least norm on features of these squares (…, kinds), in many dimensions.

    It is `interpolation_risk` for the penalty Σ β²/w: with shares s = w/(w + λ) of each dimension that are learned, of
    which there are n in all, the risk is n Σ (1 − s)² β² / (n − Σ s²).
    """
    n, counts, beta, squares = np.broadcast_arrays(np.asarray(n, float)[..., None], counts, beta, squares)
    shape, kinds = counts.shape[:-1], counts.shape[-1]
    n, counts, beta, squares = (a.reshape(-1, kinds) for a in (n, counts, beta, squares))

    def missing(exponent, problem):
        w = squares[problem]
        return n[problem, 0] - (counts[problem] * w / (w + np.exp(exponent)[..., None])).sum(-1)

    ends = np.log(squares.min(1)) - 40, np.log(squares.max(1)) + 40
    penalty = np.exp(find_root(missing, ends, args=(np.arange(len(n)),)).x)[:, None]
    learned, left = squares / (squares + penalty), penalty / (squares + penalty)
    spare = (counts * learned * left).sum(1)  # n − Σ s², without cancellation
    return (n[:, 0] * (counts * (left * beta) ** 2).sum(1) / spare).reshape(shape)


class PretrainingTime(Model):
    dimension: Several = parameter(20, "inputs, hidden units and outputs of the network")
    features: PositiveInt = parameter(5, "directions that the source task has, each of singular value 1")
    scale: PositiveFloat = parameter(1.0, "scale of the layers before pretraining")
    balances: tuple[Annotated[float, Field(ge=-1, le=1)], ...] = parameter(
        (-0.9, 0.0, 0.9), "balances λ of the layers, in units of the scale")  # fmt: skip
    longest: PositiveFloat = parameter(1e3, "flow time of pretraining")
    readout_time: PositiveFloat = parameter(10.0, "flow time of the new readout")

    @model_validator(mode="after")
    def check(self):
        """Refuse a source that leaves no direction; UserError."""
        if self.features >= self.dimension:
            raise UserError(f"features: they must be fewer than dimension, which is {self.dimension}.")
        return self


@plugins.curve()
def pretraining_time(p: PretrainingTime):
    """Risk of a new readout over the time for which the linear network below it was pretrained.

    The target is a direction that the source task has, or one that it does not have; risks are means over each kind.
    The readout is trained on infinitely many samples for the time T = `readout_time`. With the kernel K = W₁ᵀW₁ of the
    features its error decays like e^{−KT}, so the risk of a target β is |e^{−KT} β|². Before pretraining the layers are
    rotations times u and v, of each of the given balances.
    """
    times = np.r_[0.0, np.geomspace(1e-2, p.longest, 60)]
    target = np.diag((np.arange(p.dimension) < p.features).astype(float))
    rng = np.random.default_rng(0)  # of the rotations; others change risks by a few hundredths
    turns = [np.linalg.qr(rng.standard_normal((p.dimension, p.dimension)))[0] for _ in range(2)]
    risks = []
    for balance in p.balances:
        weights = [
            turn * np.sqrt(p.scale * (1 + sign * balance) / 2) for turn, sign in zip(turns, (1, -1), strict=True)
        ]
        kernels = balanced_flow(times, weights[0], weights[1], target)[:, : p.dimension, : p.dimension]
        values, vectors = np.linalg.eigh(kernels)
        decay = (vectors * np.exp(-p.readout_time * values)[:, None]) @ vectors.swapaxes(1, 2)  # e^{−KT}
        squares = (decay**2).sum(1)  # |e^{−KT} β|² for β along each axis
        risks.append([squares[:, : p.features].mean(1), squares[:, p.features :].mean(1)])
    variables = {"risk": (("balance", "direction", "pretraining_time"), np.array(risks), "risk of the readout")}
    return make_dataset(variables, {
        "balance": (np.array(p.balances), "balance λ/c of the layers before pretraining"),
        "direction": (np.array(["source", "new"]), "direction of the target"),
        "pretraining_time": (times, "flow time of pretraining"),
    })  # fmt: skip
