"""Norms of what ReLU networks learn relative to those of their teachers, which Fig. 5a of "Feature reuse …" shows of
diagonal networks (B1, B4)."""

import numpy as np

from carryover.claims.support.checks import checks
from carryover.claims.support.runs import Runs

BETWEEN = 256  # samples at which networks are not yet the teacher, and no longer far below its norm


def check(data, p):
    """Roles: `norms` and `displacement` of an overlap experiment, `regimes`: norms of single-task learning.

    Each protocol has a norm of its own: F₁ from scratch, F₁,₂ of both tasks together, R̃ after pretraining. Solutions at
    `BETWEEN` samples are no minimum of the norm: the teacher has less, and fits the same samples.
    """
    norms, tuned, regimes = (Runs(role, data[role]) for role in ("norms", "displacement", "regimes"))
    norms, tuned = norms.where(correlation=1.0), tuned.where(correlation=1.0)
    few, _ = regimes.extremes("main_features")
    sparse = regimes.where(main_features=few).regimes()[0]
    new = norms.where(overlap=0.0, samples=BETWEEN)
    tuned_on_new, scratch = (_log_ratio(new.where(protocol=name), "f1_norm") for name in ("finetuning", "single_task"))
    smallest = {
        "scratch_below": (sparse, "f1_norm"),
        "multi_task_below": (norms.where(protocol="multi_task", overlap=1.0), "f12_norm"),
        "finetuning_below": (tuned.where(overlap=1.0), "penalty"),
    }
    found = {}
    for name, (runs, norm) in smallest.items():
        fewest = runs.sizes(2)[0]
        found |= checks({name: -_log_ratio(runs.where(samples=fewest), norm)}, few=few, fewest=fewest)
    above = {
        "scratch_above": _log_ratio(sparse.where(samples=BETWEEN), "f1_norm"),
        "finetuning_above_scratch": tuned_on_new - scratch,
    }
    return found | checks(above, few=few)


def _log_ratio(runs, norm):
    return np.log10(runs.by_seed(norm) / runs.by_seed(f"{norm}_teacher"))
