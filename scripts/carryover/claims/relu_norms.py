"""Norms of what ReLU networks learn beside those of their teachers: what Fig. 5a of "Feature reuse …" shows of diagonal
networks (B1, B4)."""

import numpy as np

from carryover.claims.support import checks
from carryover.claims.support.runs import Runs

RATIO = "log₁₀ of a ratio of norms"


@checks.group(checks.own("App. B.2, E.1, Fig. 5a"), RATIO)
def check(data, p):
    """Roles: `norms` and `displacement` of an overlap experiment, `regimes`: norms of single-task learning.

    Each protocol has a norm of its own: F₁ from scratch, F₁,₂ of both tasks together, R̃ after pretraining.
    """
    norms, tuned, regimes = (Runs(role, data[role]) for role in ("norms", "displacement", "regimes"))
    few, _ = regimes.extremes("main_features")
    sparse = regimes.where(main_features=few).regimes()[0]
    scratch = _relative(sparse, "f1_norm")
    shared = [
        _relative(norms.where(protocol="multi_task", overlap=1.0, correlation=1.0), "f12_norm"),
        _relative(tuned.where(overlap=1.0, correlation=1.0), "penalty"),
    ]
    task = f"a teacher of {few:g} units"
    named = [
        ("scratch", "Networks trained from scratch", "F₁ norm", task, scratch),
        ("multi_task", "Multi-task networks that share all features", "F₁,₂ norm", "their two teachers", shared[0]),
        ("finetuning", "Networks finetuned on shared features", "penalty R̃", "their teacher", shared[1]),
    ]
    below = [
        (f"{name}_below", f"{networks} have a smaller {norm} than {teacher} at n = {relative.columns[0]:g}",
         -relative.iloc[:, 0], 0.0)
        for name, networks, norm, teacher, relative in named
    ]  # fmt: skip
    return [*below, *_between(norms, sparse, p, task)]


def _between(norms, sparse, p, task):
    """Solutions that are no minimum of the norm: the teacher has less, and fits the same samples."""
    new = norms.where(overlap=0.0, correlation=1.0, samples=p.between)
    tuned, scratch = (_log_ratio(new.where(protocol=name), "f1_norm") for name in ("finetuning", "single_task"))
    at = f"at n = {p.between}"
    return [
        ("scratch_above", f"Networks trained from scratch have a larger F₁ norm than {task}, which "
         f"fits their samples as well, {at}", _log_ratio(sparse.where(samples=p.between), "f1_norm"), 0.0,
         checks.own("App. E.2.1")),
        ("finetuning_above_scratch", f"Networks finetuned on new features have a larger F₁ norm than networks trained "
         f"from scratch {at}", tuned - scratch, 0.0, checks.own("App. E.2.2")),
    ]  # fmt: skip


def _log_ratio(runs, norm):
    return np.log10(runs.by_seed(norm) / runs.by_seed(f"{norm}_teacher"))


def _relative(runs, norm):
    """log₁₀ of a norm over the teacher's, by seed (rows) and samples."""
    return np.log10(runs.by_samples(norm, 2) / runs.by_samples(f"{norm}_teacher", 2))
