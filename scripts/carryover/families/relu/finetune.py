"""Everything that is trained on the main task: from a pretrained network, from scratch, or together with the auxiliary
task; the whole network, its readout alone (probe), or its tangent features (kernel)."""

from dataclasses import asdict, dataclass
from itertools import product

import numpy as np

from carryover.families.contract import Piece
from carryover.families.relu import pretrain
from carryover.networks.relu import Weights
from carryover.streams import generator
from carryover.tasks import units
from carryover.tasks.sparse import sphere


@dataclass(frozen=True)
class Condition:
    """What distinguishes one network of a shard. Its values derive the order in which samples are drawn."""

    seed: int
    main_features: int
    magnitude: float
    overlap: float | None  # None where the cosines are listed
    correlation: float | None
    unit_correlations: str  # empty where they are not
    rescale: float
    initial_scale: float | None  # None for pretrained networks

    def cosines(self):
        """(main units,) cosines between the main units and their auxiliary ones."""
        return units.cosines(self.main_features, self.overlap, self.correlation, self.unit_correlations)


def problems(p, shard):
    """A piece for each number of samples.

    Raises UserError for a main task without room, and for pretrained networks of other sizes.
    """
    shard.check_sizes({"width": ("unit", p.width), "dimension": ("input", p.dimension)})
    listed = [(None, None, text) for text in p.unit_correlations]
    paired = [(overlap, correlation, "") for overlap, correlation in product(p.overlap, p.correlation)]
    scales = (None,) if p.protocol.startswith("finetuning") else p.initial_scale
    axes = product(shard.seeds, p.main_features, p.magnitude, listed or paired, p.rescale, scales)
    runs = [Condition(seed, k, m, *related, rescale, scale) for seed, k, m, related, rescale, scale in axes]
    auxiliary, teacher = _teachers(p, shard.experiment, runs)
    outputs = ("main", "auxiliary") if p.protocol == "multi_task" else ("main",)
    start = _start(p, shard, runs, outputs)
    for size in p.samples:
        problem = _problem(p, shard, runs, size, start, teacher, auxiliary)

        def variables(trained, problem=problem):
            samples = _samples(problem, max(p.samples)) if p.keep_samples else {}
            return pretrain.variables(problem, auxiliary, trained) | samples

        yield Piece(problem, _columns(runs) | {"samples": size}, variables, pretrain.MEANING, outputs)


def _teachers(p, experiment, runs):
    """Auxiliary and main Teacher, (runs, …); main tasks with fewer units than others are padded with zero units."""
    most = max(run.main_features for run in runs)
    auxiliary = np.zeros((len(runs), p.auxiliary_features, p.dimension))
    main, readout = np.zeros((len(runs), most, p.dimension)), np.zeros((len(runs), most))
    signs = [pretrain.signs(p, experiment, run.seed, max(p.auxiliary_features, most)) for run in runs]
    for r, run in enumerate(runs):
        k = run.main_features
        auxiliary[r], main[r, :k] = pretrain.teachers(p, experiment, run.seed, run.cosines())
        readout[r, :k] = run.magnitude * units.coefficients(signs[r], k, p.main_norm)
    auxiliary_readout = np.stack([units.coefficients(s, p.auxiliary_features, p.auxiliary_norm) for s in signs])
    return pretrain.Teacher(auxiliary, auxiliary_readout), pretrain.Teacher(main, readout)


def _start(p, shard, runs, outputs):
    """Weights before the first step: a pretrained first layer with a new readout, or small ones; then rescaled."""
    seeds, experiment = [run.seed for run in runs], shard.experiment
    if shard.pretrained is None:
        unit = pretrain.small_weights(p, experiment, seeds, outputs, 1.0)
        scale = np.array([run.initial_scale for run in runs])[:, None, None]
        first, second = unit.first * scale, unit.second * scale
    else:
        first = shard.pretrained["first"].values[shard.rows(seed=seeds)]
        first = _perturbed(first, p.spread, experiment, seeds) if p.spread else first
        second = np.stack([pretrain.readout(p, experiment, seed, outputs, p.readout_scale) for seed in seeds])
    rescale = np.array([run.rescale for run in runs])[:, None, None]
    return Weights(first * rescale, second * rescale if p.rescaled == "both" else second)


def _perturbed(first, spread, experiment, seeds):
    """Input weights (runs, H, D) of the same norms, their directions perturbed by noise that runs of a seed share."""
    noise = np.stack([generator(experiment, "", seed, "spread").standard_normal(first.shape[1:]) for seed in seeds])
    norms = np.linalg.norm(first, axis=2, keepdims=True)
    perturbed = first + spread * norms * noise / np.sqrt(first.shape[2])
    return perturbed * norms / np.maximum(np.linalg.norm(perturbed, axis=2, keepdims=True), np.finfo(float).tiny)


def _problem(p, shard, runs, size, start, teacher, auxiliary):
    """Main-task data of every run, and auxiliary data where both tasks are learned."""
    experiment, seeds = shard.experiment, shard.seeds
    sets = np.array([seeds.index(run.seed) for run in runs])
    rngs = (generator(experiment, "", seed, "inputs") for seed in seeds)
    X = [np.stack([sphere(rng, size, p.dimension) for rng in rngs])]
    y = [teacher(X[0][sets])]
    if p.protocol == "multi_task":
        X.append(np.stack([pretrain.auxiliary_data(p, experiment, seed, p.auxiliary_samples) for seed in seeds]))
        y.append(auxiliary(X[1][sets]))
    if p.loss == "cross_entropy":
        y = [pretrain.labels(targets) for targets in y]
    return pretrain.Problem(
        X, y, sets, start, teacher,
        lambda run: generator(experiment, {**asdict(runs[run]), "samples": size}, runs[run].seed, "order"),
    )  # fmt: skip


def _columns(runs):
    """{coordinate: (runs,) values}; overlap and correlation summarise listed cosines, NaN where these differ."""
    names = "seed", "main_features", "magnitude", "rescale"
    columns = {name: np.array([getattr(run, name) for run in runs]) for name in names}
    columns["initial_scale"] = np.array([np.nan if run.initial_scale is None else run.initial_scale for run in runs])
    summaries = []
    for run in runs:
        nonzero = [cosine for cosine in run.cosines() if cosine]
        correlation = (nonzero or [1.0])[0] if len(set(nonzero)) < 2 else np.nan
        listed = np.mean(run.cosines() != 0), correlation
        summaries.append(listed if run.overlap is None else (run.overlap, run.correlation))
    columns["overlap"], columns["correlation"] = np.array(summaries).T
    columns["unit_correlations"] = np.array([" ".join(f"{cosine:g}" for cosine in run.cosines()) for run in runs])
    return columns


def _samples(problem, most):
    """Inputs and targets of the main task, padded to `most` samples with NaN."""
    X, y = problem.X[0][problem.sets], problem.y[0]
    missing = most - y.shape[1]
    X = np.pad(X, [(0, 0), (0, missing), (0, 0)], constant_values=np.nan)
    y = np.pad(y, [(0, 0), (0, missing)], constant_values=np.nan)
    return {
        "inputs": (("run", "sample", "input"), X, "inputs of the main task's samples; NaN where there are fewer"),
        "targets": (("run", "sample"), y, "targets of the main task's samples; NaN where there are fewer"),
    }
