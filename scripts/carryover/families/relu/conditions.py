"""The runs of a shard of finetuning: which main task each one learns, and from which start."""

from dataclasses import dataclass
from itertools import product

import numpy as np

from carryover.families.relu import task
from carryover.tasks import units


@dataclass(frozen=True)
class Condition:
    """What one network of a shard is, but for what all of the shard are."""

    seed: int
    main_features: int
    magnitude: float
    overlap: float | None  # None where the cosines are listed
    correlation: float | None
    unit_correlations: str  # empty where they are not
    rescale: float
    initial_scale: float | None  # None for pretrained networks


def all_of(p, seeds):
    """Every Condition of the parameters, in a fixed order."""
    listed = [(None, None, text) for text in p.unit_correlations]
    paired = [(overlap, correlation, "") for overlap, correlation in product(p.overlap, p.correlation)]
    scales = (None,) if p.protocol.startswith("finetuning") else p.initial_scale
    axes = product(seeds, p.main_features, p.magnitude, listed or paired, p.rescale, scales)
    return [Condition(seed, k, m, *related, rescale, scale) for seed, k, m, related, rescale, scale in axes]


def cosines(run):
    """(k,) cosines between the main units of a Condition and their auxiliary ones."""
    return units.cosines(run.main_features, run.overlap, run.correlation, run.unit_correlations)


def teachers(p, experiment, runs):
    """Auxiliary and main Teacher, (runs, …); main tasks with fewer units than others have zero units besides."""
    most = max(run.main_features for run in runs)
    auxiliary = np.zeros((len(runs), p.auxiliary_features, p.dimension))
    main, readout = np.zeros((len(runs), most, p.dimension)), np.zeros((len(runs), most))
    signs = [task.signs(p, experiment, run.seed, max(p.auxiliary_features, most)) for run in runs]
    for r, run in enumerate(runs):
        k = run.main_features
        auxiliary[r], main[r, :k] = task.teachers(p, experiment, run.seed, cosines(run))
        readout[r, :k] = run.magnitude * units.coefficients(signs[r], k, p.main_norm)
    learned_before = [units.coefficients(s, p.auxiliary_features, p.auxiliary_norm) for s in signs]
    return task.Teacher(auxiliary, np.stack(learned_before)), task.Teacher(main, readout)


def columns(p, runs):
    """{coordinate: (runs,) values} of what distinguishes the runs; overlap and correlation say the same as the list."""
    names = "seed", "main_features", "magnitude", "rescale"
    plain = {name: np.array([getattr(run, name) for run in runs]) for name in names}
    scales = np.array([np.nan if run.initial_scale is None else run.initial_scale for run in runs])
    related = [_related(cosines(run), run) for run in runs]
    lists = np.array([" ".join(f"{cosine:g}" for cosine in cosines(run)) for run in runs])
    overlap, correlation = np.array(related).T
    related = {"overlap": overlap, "correlation": correlation, "unit_correlations": lists}
    return {**plain, "initial_scale": scales, **related}


def _related(values, run):
    """(overlap, correlation) of a main task: fraction of related units, and their cosine, NaN where they differ."""
    if run.overlap is not None:
        return run.overlap, run.correlation
    related = np.unique(values[values != 0])
    return np.mean(values != 0), related.item() if len(related) == 1 else np.nan if len(related) else 1.0
