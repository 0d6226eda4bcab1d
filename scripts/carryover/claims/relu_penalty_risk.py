"""What the penalty of ReLU units predicts for the risk of finetuning: Fig. 1c of "The implicit penalty" (A3)."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from carryover.analysis import intervals
from carryover.analysis.runs import Runs, rank_correlation
from carryover.config.parameters import parameter

ROLES = ("risk", "penalty")


@dataclass(frozen=True, kw_only=True)
class Parameters:
    samples: int = parameter(0, "main-task samples at which networks are compared; 0 for the most that there are",
                             minimum=0)  # fmt: skip
    dearer: float = parameter(1.25, "factor by which a pretrained unit must cost more than a new one where it is "
                              "predicted to hurt", minimum=1)  # fmt: skip
    order: float = parameter(0.5, "rank correlation from which on a prediction counts", minimum=0, maximum=1)


@intervals.claims("1.2, Fig. 1c", "log₁₀ of a ratio of risks")
def check(data, p):
    """Roles: `risk` over correlation and magnitude, and `penalty`, the measure `displacement` of finetuned networks.

    Each statistic is a mean over seeds of log₁₀ of a ratio of risks, but of `order`, which is one of rank correlations.
    """
    every = Runs("risk", data["risk"])
    runs = every.where(samples=p.samples or every.sizes()[-1])
    low, high = runs.extremes("correlation")
    nearer = runs.options("correlation")[1]
    small, large = runs.extremes("magnitude")

    def benefit(correlation, magnitude, trained):
        """log₁₀ of the risk of STL over that of PT+FT; `trained` is the one whose training must be done."""
        over, of = (
            runs.risk(trained == protocol, protocol=protocol, correlation=correlation, magnitude=magnitude)
            for protocol in ("single_task", "finetuning")
        )
        return over - of

    at = f"at n = {runs.only('samples'):g}"
    lost_by_small = benefit(high, small, "single_task") - benefit(low, small, "finetuning")
    lost_by_large = benefit(high, large, "finetuning") - benefit(low, large, "single_task")
    smaller = [m for m in runs.options("magnitude") if m < large]
    return [
        ("shared", f"On the pretrained units (cosine {high:g}), finetuned networks beat networks trained from scratch "
         f"even at magnitude {small:g}, {at}", benefit(high, small, "single_task"), 0.0),
        *((f"reversal_{m:g}", f"On similar units (cosine {low:g}) of magnitude {m:g}, networks trained from scratch "
           f"beat finetuned ones, {at}", -benefit(low, m, "finetuning"), 0.0) for m in smaller),
        *((f"reversal_vanishes_{m:g}", f"At magnitude {m:g} finetuned networks do better against networks trained from "
           f"scratch at cosine {nearer:g} than at {low:g}, {at}",
           benefit(nearer, m, "single_task") - benefit(low, m, "finetuning"), 0.0) for m in smaller),
        ("no_reversal", f"On similar units (cosine {low:g}) of magnitude {large:g}, finetuned networks beat networks "
         f"trained from scratch, {at}", benefit(low, large, "single_task"), 0.0),
        ("loss_of_benefit", f"From cosine {high:g} to {low:g} finetuned networks lose more of their advantage at "
         f"magnitude {small:g} than at {large:g}, {at}", lost_by_small - lost_by_large, 0.0),
        *_predicted(Runs("penalty", data["penalty"]), runs, benefit, at, p),
    ]  # fmt: skip


def _predicted(penalty, runs, benefit, at, p):
    """Whether pretrained units that cost less than new ones are those that help."""
    saved, gained = {}, {}
    for correlation in runs.options("correlation"):
        for magnitude in runs.options("magnitude"):
            cell = penalty.where(correlation=correlation, magnitude=magnitude, samples=runs.only("samples"))
            paired, new = (cell.by_seed(name) for name in ("penalty_paired", "penalty_new"))
            saved[correlation, magnitude] = np.log10(new / paired)
            gained[correlation, magnitude] = benefit(correlation, magnitude, "finetuning")
    saved, gained = pd.DataFrame(saved), pd.DataFrame(gained)
    hurt = gained.loc[:, saved.mean() < -np.log10(p.dearer)]
    return [
        ("order", f"The less a pretrained unit costs beside a new one, the more finetuned networks gain on networks "
         f"trained from scratch, {at}", rank_correlation(saved, gained), p.order, None,
         "rank correlation over cosines and magnitudes"),
        ("predicted_reversal", f"Where a pretrained unit costs {p.dearer:g} times a new one or more, networks trained "
         f"from scratch beat finetuned ones, {at}", -hurt.mean(axis=1, skipna=False), 0.0, None,
         "mean over such cosines and magnitudes of log₁₀ of a ratio of risks"),
    ]  # fmt: skip
