"""Everything that is trained on the main task: from a pretrained network, from scratch, or together with the auxiliary
task; the whole network, its readout (probe), or its tangent features (kernel). `shard` is a `stages.Shard`."""

from functools import partial
from itertools import product

import numpy as np
from numpy.random import Generator

from carryover.families.relu import pretrain
from carryover.families.stages import Batch
from carryover.networks.relu import Weights
from carryover.streams import generator
from carryover.tasks import units
from carryover.tasks.sparse import magnitude, sphere


def problems(p, shard):
    """A batch for each number of samples; UserError for a main task without room."""
    listed = [(None, None, text) for text in p.unit_correlations]  # they replace overlap and correlation
    paired = [(overlap, correlation, "") for overlap, correlation in product(p.overlap, p.correlation)]
    scales = (None,) if p.protocol.startswith("finetuning") else p.initial_scale
    axes = product(shard.seeds, p.main_features, p.magnitude, listed or paired, p.rescale, scales)
    runs = [  # None is what a run does not have; names and values derive the order in which samples are drawn
        {"seed": seed, "main_features": k, "magnitude": m, "overlap": overlap, "correlation": correlation,
         "unit_correlations": text, "rescale": rescale, "initial_scale": scale}
        for seed, k, m, (overlap, correlation, text), rescale, scale in axes
    ]  # fmt: skip
    related = ("main_features", "overlap", "correlation", "unit_correlations")
    cosines = [units.cosines(*(run[name] for name in related)) for run in runs]
    sets = shard.places([run["seed"] for run in runs])
    teachers = []  # auxiliary and main ones; main ones with fewer units than others are padded with zero units
    for run, own in zip(runs, cosines, strict=True):
        known, directions, signs = pretrain.teachers(p, shard.experiment, run["seed"], own)
        readout = run["magnitude"] * (signs[: len(own)] * magnitude(len(own), p.main_norm))
        missing = (0, max(p.main_features) - len(own))
        teachers.append((known, Weights(np.pad(directions, (missing, (0, 0))), np.pad(readout, missing)[None])))
    auxiliary, teacher = (Weights.stack(kind) for kind in zip(*teachers, strict=True))
    outputs = ("main", "auxiliary") if p.protocol == "multi_task" else ("main",)
    start, columns = _start(p, shard, runs, sets, outputs), _columns(runs, cosines)
    if p.signs == "random":
        columns["sign_sum"] = np.abs(np.sign(np.stack([main.second[0] for _, main in teachers])).sum(1)).astype(int)
    for size in p.samples:
        tasks = [pretrain.task(p, shard.draw(sphere, "inputs", size, p.dimension), teacher, sets)]
        if p.protocol == "multi_task":
            X = shard.draw(sphere, "auxiliary inputs", p.auxiliary_samples, p.dimension)
            tasks.append(pretrain.task(p, X, auxiliary, sets))
        conditions = [{**run, "samples": size} for run in runs]
        problem = pretrain.Problem(
            tasks, start, teacher,
            lambda run, own=conditions: generator(shard.experiment, own[run], runs[run]["seed"], "order"),
        )  # fmt: skip
        variables = partial(_variables, p, problem, auxiliary)
        yield Batch(problem, columns | {"samples": size}, variables, pretrain.MEANING, outputs)


def _start(p, shard, runs, sets, outputs):
    """`Weights` (runs, …) before the first step: a pretrained first layer with a new readout, or small ones; then
    rescaled. `runs` are dicts of coordinates, `sets` (runs,) places of their seeds, `outputs` names of readouts."""
    if shard.pretrained is None:
        unit = pretrain.small_weights(p, shard, outputs, 1.0)
        scale = np.array([run["initial_scale"] for run in runs])[:, None, None]
        first, second = unit.first[sets] * scale, unit.second[sets] * scale
    else:
        first = shard.pretrained["first"].values[shard.rows(seed=shard.seeds)]
        if p.angular_noise:  # noise turns the input weights, whose norms stay
            noise = shard.draw(Generator.standard_normal, "spread", first.shape[1:])
            norms = np.linalg.norm(first, axis=2, keepdims=True)
            turned = first + p.angular_noise * norms * noise / np.sqrt(first.shape[2])
            first = turned * norms / np.maximum(np.linalg.norm(turned, axis=2, keepdims=True), np.finfo(float).tiny)
        first, second = first[sets], pretrain.readouts(p, shard, outputs, p.readout_scale)[sets]
    rescale = np.array([run["rescale"] for run in runs])[:, None, None]
    return Weights(first * rescale, second * rescale if p.rescaled == "both" else second)


def _columns(runs, cosines):
    """{coordinate: (runs,) values} of `runs`, dicts {coordinate: value}, and the `cosines` (k,) of each run's main
    units with auxiliary ones. If a run lists its cosines, its overlap is the share of those that are not 0, and its
    correlation is their common value, or NaN if they differ."""
    names = "seed", "main_features", "magnitude", "rescale"
    columns = {name: np.array([run[name] for run in runs]) for name in names}
    columns["initial_scale"] = np.array([run["initial_scale"] for run in runs], dtype=float)  # None is NaN
    summaries = []
    for run, own in zip(runs, cosines, strict=True):
        if run["overlap"] is not None:
            summaries.append((run["overlap"], run["correlation"]))
            continue
        different = set(own[own != 0].tolist()) or {1.0}  # with overlap 0 the correlation has no effect
        summaries.append(((own != 0).mean(), different.pop() if len(different) == 1 else np.nan))
    columns["overlap"], columns["correlation"] = np.array(summaries).T
    columns["unit_correlations"] = np.array([" ".join(f"{cosine:g}" for cosine in own) for own in cosines])
    return columns


def _variables(p, problem, auxiliary, trained):
    """Those of networks and tasks, and the main task's samples if `keep_samples`, padded with NaN to the most."""
    variables, task = pretrain.variables(problem, auxiliary, trained), problem.tasks[0]
    if not p.keep_samples:
        return variables
    missing = (0, max(p.samples) - task.y.shape[1])
    X = np.pad(task.X[task.sets], [(0, 0), missing, (0, 0)], constant_values=np.nan)
    y = np.pad(task.y, [(0, 0), missing], constant_values=np.nan)
    return variables | {
        "inputs": (("run", "sample", "input"), X, "inputs of the main task's samples; NaN where there are fewer"),
        "targets": (("run", "sample"), y, "targets of the main task's samples; NaN where there are fewer"),
    }
