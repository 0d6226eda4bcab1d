"""Which bound tells best how well finetuning does on a pair of tasks ("Finetuning with linear teachers", Table 1)."""

from dataclasses import dataclass

from carryover.analysis import intervals, r_squared
from carryover.config.parameters import parameter


@dataclass(frozen=True, kw_only=True)
class Parameters:
    strong: float = parameter(0.5, "R² above which a correlation counts as strong", minimum=0, maximum=1)


@intervals.claims("4.2, Table 1", "R² over pairs of tasks, or a difference of two")
def check(data, p):
    """Role: `bounds`, the measure of an experiment of the family image_pairs.

    Statistics are R² over pairs of tasks or differences of it, means over numbers of samples, for each cutoff. Their
    intervals are over repeats of the same pairs, as in the paper, and so are the verdicts: other pairs may turn the
    order, of few ones above all.
    """
    r_squared_by_seed = r_squared.r_squared(data["bounds"]).groupby(["cutoff", "seed"]).mean()
    pairs = r_squared.finetuned(data["bounds"])["pair"].nunique()
    return [row for cutoff, runs in r_squared_by_seed.groupby("cutoff") for row in _claims(p, pairs, cutoff, runs)]


def _claims(p, pairs, cutoff, runs):
    where = f"without directions up to the cutoff {cutoff:g}" if cutoff else "with least squares"
    where = f"{where}, on these {pairs} pairs of tasks"
    strong = f"the bound by the covariance has an R² above {p.strong:g} with the error"
    above = "the R² of the bound by the covariance is above that of benign overfitting"
    benign, covariance = runs["benign_overfitting"], runs["covariance"]
    rows = (
        ("strong", strong, covariance, p.strong),
        ("covariance", above, covariance - benign, 0.0),
        ("benign_overfitting", "the R² of benign overfitting is above that of the distance", benign - runs["distance"],
         0.0),
    )  # fmt: skip
    return [(f"{name}_{cutoff:g}", f"{statement}, {where}", values, bound) for name, statement, values, bound in rows]
