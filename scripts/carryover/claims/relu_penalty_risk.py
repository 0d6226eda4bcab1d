"""What the penalty of ReLU units predicts for the risk of finetuning: Fig. 1c of "The implicit penalty" (A3)."""

import numpy as np
import pandas as pd

from carryover.claims.support import checks
from carryover.claims.support.runs import Runs
from carryover.errors import UserError
from carryover.statistics.correlation import rank_correlation_by_row

DEARER = 1.25  # factor by which a pretrained unit must cost more than a new one where it is predicted to hurt
ORDER = 0.5  # rank correlation from which on a prediction counts


@checks.group("1.2, Fig. 1c", "log₁₀ of a ratio of risks, mean over n")
def check(data, p):
    """Roles: `risk` over correlation and magnitude, and `penalty`, the measure `displacement` of finetuned networks.

    Each statistic is a mean over all numbers of samples from `samples` on, by seed, but of `order`, which is a rank
    correlation. Raises UserError where there are no so many samples.
    """
    every, penalty = Runs("risk", data["risk"]), Runs("penalty", data["penalty"])
    sizes = [n for n in every.sizes() if n >= p.samples]
    if not sizes:
        raise UserError(f"this claim needs {p.samples} samples or more of the role risk, not {every.sizes()[-1]:g}.")
    low, high = every.extremes("correlation")
    small, large = every.extremes("magnitude")

    def benefit(correlation, magnitude, trained):
        """log₁₀ of the risk of STL over that of PT+FT; `trained` is the one whose training must be done."""
        over, of = (
            pd.DataFrame({n: every.risk(trained == protocol, protocol=protocol, correlation=correlation,
                                        magnitude=magnitude, samples=n) for n in sizes})
            for protocol in ("single_task", "finetuning")
        )  # fmt: skip
        return (over - of).mean(axis=1, skipna=False)

    saved, gained = {}, {}
    for cell in ((c, m) for c in every.options("correlation") for m in every.options("magnitude")):
        costs = [
            [np.log10(penalty.by_seed(name, correlation=cell[0], magnitude=cell[1], samples=n)) for n in sizes]
            for name in ("penalty_new", "penalty_paired")
        ]
        saved[cell] = sum(new - paired for new, paired in zip(*costs, strict=True)) / len(sizes)
        gained[cell] = benefit(*cell, "finetuning")
    saved, gained = pd.DataFrame(saved), pd.DataFrame(gained)
    hurt = gained.loc[:, saved.mean() < -np.log10(DEARER)]
    lost_by_small = benefit(high, small, "single_task") - benefit(low, small, "finetuning")
    lost_by_large = benefit(high, large, "finetuning") - benefit(low, large, "single_task")
    at = f"over n ≥ {sizes[0]:g}"
    return [
        ("shared", f"On the pretrained units (cosine {high:g}), finetuned networks beat networks trained from scratch "
         f"even at magnitude {small:g}, {at}", benefit(high, small, "single_task"), 0.0),
        ("reversal", f"Where the penalty makes a pretrained unit {DEARER:g} times as dear as a new one or more, "
         f"networks trained from scratch beat finetuned ones, {at}", -hurt.mean(axis=1, skipna=False), 0.0, None,
         "log₁₀ of a ratio of risks, mean over n and over such cosines and magnitudes"),
        ("no_reversal", f"On similar units (cosine {low:g}) of magnitude {large:g}, finetuned networks beat networks "
         f"trained from scratch, {at}", benefit(low, large, "single_task"), 0.0),
        ("loss_of_benefit", f"From cosine {high:g} to {low:g} finetuned networks lose more of their advantage at "
         f"magnitude {small:g} than at {large:g}, {at}", lost_by_small - lost_by_large, 0.0),
        ("order", "The less a pretrained unit costs beside a new one, the more finetuned networks gain on networks "
         f"trained from scratch, {at}", rank_correlation_by_row(saved, gained), ORDER, checks.own("1.2, Fig. 1c"),
         "rank correlation over cosines and magnitudes"),
    ]  # fmt: skip
