"""Which bound tells best how well finetuning does on a pair of tasks ("Finetuning with linear teachers", Table 1)."""

from dataclasses import dataclass

from carryover.analysis import intervals, r_squared
from carryover.config.parameters import parameter


@dataclass(frozen=True, kw_only=True)
class Parameters:
    strong: float = parameter(0.5, "R² above which a correlation counts as strong", minimum=0, maximum=1)


@intervals.claims("4.2, Table 1", "difference of two R² over pairs of tasks")
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
    learned = f"learned but for directions below {cutoff:g} of the largest" if cutoff else "learned by least squares"
    where = f"over {pairs} pairs of scikit-learn's digits, {learned}"
    strong = "The bound of eq 3 correlates strongly with the error after finetuning"
    above = "The bound of eq 3 correlates better with the error than that of benign overfitting"
    benign, covariance = runs["benign_overfitting"], runs["covariance"]
    rows = (
        ("strong", strong, covariance, p.strong, "R² over pairs of tasks"),
        ("covariance", above, covariance - benign, 0.0, None),
        ("benign_overfitting", "The bound of benign overfitting correlates better with the error than |θ_T − θ_S|²",
         benign - runs["distance"], 0.0, None),
    )  # fmt: skip
    section = intervals.OWN if cutoff else None  # the paper leaves no directions out
    return [(f"{name}_{cutoff:g}", f"{statement}, {where}", values, bound, section, measured)
            for name, statement, values, bound, measured in rows]  # fmt: skip
