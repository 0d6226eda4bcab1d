"""Linear transfer of ReLU networks in the mean-field scaling: features of the source, what they leave out, and where
that is too much ("Features are fate", section 4 and Fig. 9)."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from carryover.analysis import intervals, power_law
from carryover.analysis.linear_transfer import boundary, by_anchor, chosen, gains, jackknife
from carryover.analysis.runs import Runs
from carryover.analysis.transferability import normalised
from carryover.config.parameters import parameter

ANCHOR = "App. E, Fig. 9"
KERNELS = "Fig. 3a–b", "alignment of kernels"


@dataclass(frozen=True, kw_only=True)
class Parameters:
    readout: str = parameter("zero", "how the readout was trained in the runs of linear transfer that claims are about")
    smallest: int = parameter(64, "fewest samples that the power law is fitted to", minimum=1)
    factor: float = parameter(2.0, "factor between predicted and found boundary that counts as near", above=1)


@intervals.claims("4, Fig. 3e", "transferability")
def check(data, p):
    """Roles: `risk`, `gram`, `out_of_rkhs` over ablated shares and scales of the teacher, and `anchored`, the risks of
    networks pretrained with several anchors. Statistics are means over seeds, risks shares of the target's variance."""
    gram, outside = (Runs(role, data[role]) for role in ("gram", "out_of_rkhs"))
    lazy, rich = gram.extremes("teacher_scale")
    gained = {scale: _mean(gram.where(teacher_scale=scale), "alignment") for scale in (lazy, rich)}
    left_out = _table(outside.where(teacher_scale=rich), "out_of_rkhs")
    runs = gains(data["risk"], p.readout)
    runs = runs[runs["teacher_scale"] == rich]
    most = runs["samples"].max()
    table = runs.pivot_table("transferability", "seed", ["ablated", "samples"])
    return [
        ("features", "Rich pretraining aligns the network's kernel with that of the source's units",
         gained[rich] - _mean(gram.where(teacher_scale=rich), "initial_alignment"), 0.0, *KERNELS),
        ("richness", f"Pretraining aligns the network's kernel more at teacher scale {rich:g} than at {lazy:g}",
         gained[rich] - gained[lazy], 0.0, *KERNELS),
        ("left_out", "What the features leave out of the target grows with the ablated share (rank correlation "
         "above 0.9)", _rank_correlation(left_out), 0.9, "Fig. 3d", "rank correlation"),
        ("helps", "Without ablation linear transfer gains at every number of samples", table[0.0].min(axis=1), 0.0),
        ("hurts", f"With most units ablated linear transfer loses at n = {most:g}",
         -table[runs["ablated"].max()][most], 0.0),
        *_boundaries(table, outside.where(teacher_scale=rich), data["risk"], rich, p),
        *_anchors(by_anchor(gains(data["anchored"], p.readout))),
    ]  # fmt: skip


def _table(runs, quantity):
    """A quantity by seed and ablated share."""
    return runs.data[[quantity]].to_dataframe().pivot_table(quantity, "seed", "ablated")


def _mean(runs, quantity):
    return _table(runs, quantity).mean(axis=1)


def _rank_correlation(table):
    """Spearman's correlation of each row with its columns' labels, by seed."""
    return table.apply(lambda row: row.corr(pd.Series(row.index, row.index), method="spearman"), axis=1)


def _boundaries(table, outside, risk, scale, p):
    """A claim for each ablated share but 0, whose boundary lies at infinity: what is found of the means over seeds is
    near what is predicted of them.

    A boundary beyond the numbers of samples is at least as far off as their end: where that is too far from what is
    predicted, on this side of it, the claim fails, and else nothing is known.
    """
    alone = Runs("risk", normalised(risk)).where(teacher_scale=scale, protocol="single_task")
    scratch = alone.data[["risk_final"]].to_dataframe().pivot_table("risk_final", "seed", "samples")
    least, ends = _table(outside, "least_risk"), (scratch.columns.min(), scratch.columns.max())
    for ablated in [share for share in least if share > 0]:

        def found(seeds, gain=table[ablated]):
            return boundary(gain.loc[seeds].mean())

        def predicted(seeds, least=least[ablated]):
            return power_law.window(scratch.loc[seeds], p.smallest).samples(least.loc[seeds].mean())

        def off(seeds, found=found, predicted=predicted):
            return np.log2(np.clip(found(seeds), *ends) / predicted(seeds))

        seeds, near = list(table.index), np.log2(p.factor)
        n = found(seeds)
        known = 0 < n < np.inf or (off(seeds) > near if n else off(seeds) < -near)
        values = intervals.within(jackknife(off, seeds), near) if known else pd.Series(np.nan, seeds)
        yield (
            f"boundary_{100 * ablated:g}",
            f"At an ablated share of {ablated:g} linear transfer stops to gain within a factor {p.factor:g} of the n "
            "at which the power law of scratch training falls to the least risk of the pretrained features",
            values, 0.0, None,
            f"log₂ of the allowed over the actual factor; {_told(n)}, predicted is n = "
            f"{predicted(seeds):.0f}",
        )  # fmt: skip


def _told(n):
    """A boundary that was found, in words."""
    if 0 < n < np.inf:
        return f"found is n = {n:.0f}"
    return "it gains at every n" if n else "it loses at every n"


def _anchors(tables):
    """Claims about networks whose features were held near their start; each seed's best penalty is that of others."""
    free, initial = tables.pop(0.0), tables.pop(np.inf)
    held = chosen(tables)
    better = max((free, initial), key=lambda table: table.to_numpy().mean())
    by_size = pd.DataFrame({n: chosen({a: table[[n]] for a, table in tables.items()})[n] for n in held})
    penalty = "the best penalty on the distance from the start"
    return [
        ("anchor_helps", f"With most units ablated, {penalty} raises the gain, on the mean over n",
         held.mean(axis=1) - free.mean(axis=1), 0.0, ANCHOR),
        ("anchor_interior", "With most units ablated, a penalty between 0 and infinity is best, on the mean over n: "
         "it gains more than either end", held.mean(axis=1) - better.mean(axis=1), 0.0, ANCHOR),
        ("anchor_turns", f"At n = {held.columns.min():g} {penalty} turns a loss of linear transfer into a gain",
         np.minimum(-free.mean().iloc[0], held.iloc[:, 0]), 0.0, ANCHOR),
        ("anchor_avoids", "With the best penalty for each n linear transfer loses at no n",
         by_size[by_size.mean().idxmin()], 0.0, ANCHOR),
    ]  # fmt: skip
