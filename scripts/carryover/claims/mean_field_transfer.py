"""Linear transfer of ReLU networks in the mean-field scaling: features of the source, what they leave out, and where
that is too much ("Features are fate", section 4 and Fig. 9)."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from carryover.analysis import intervals, power_law
from carryover.analysis.runs import Runs
from carryover.analysis.transferability import normalised, transferability
from carryover.config.parameters import parameter

ANCHOR = "App. E, Fig. 9"
KERNELS = "Fig. 3a–b", "alignment of kernels"


@dataclass(frozen=True, kw_only=True)
class Parameters:
    ablated: float = parameter(0.5, "ablated share at which the boundary is looked at", minimum=0, maximum=1)
    smallest: int = parameter(64, "fewest samples that the power law is fitted to", minimum=1)
    factor: float = parameter(4.0, "factor between predicted and found boundary that counts as near", above=1)


@intervals.claims("4, Fig. 3e", "transferability")
def check(data, p):
    """Roles: `risk`, `gram`, `out_of_rkhs` over ablated shares and scales of the teacher, and `anchored`, the risks of
    networks pretrained with several anchors. Statistics are means over seeds, risks shares of the target's power."""
    gram, outside = (Runs(role, data[role]) for role in ("gram", "out_of_rkhs"))
    lazy, rich = gram.extremes("teacher_scale")
    gained = {scale: _mean(gram.where(teacher_scale=scale), "alignment") for scale in (lazy, rich)}
    left_out = _table(outside.where(teacher_scale=rich), "out_of_rkhs")
    risk = normalised(data["risk"])
    scratch = Runs("risk", risk).where(teacher_scale=rich, protocol="single_task")
    runs = transferability(risk, "linear_transfer")
    runs = runs[runs["teacher_scale"] == rich]
    most = runs["samples"].max()
    table = runs.pivot_table("transferability", "seed", ["ablated", "samples"])
    anchored = transferability(normalised(data["anchored"]), "linear_transfer")
    free, held = _anchors(anchored)
    near = np.log2(p.factor) - abs(_boundary_error(table[p.ablated], left_out[p.ablated], scratch, p.smallest))
    penalty = "the best penalty on the distance from the start"
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
        ("boundary", f"At an ablated share of {p.ablated:g} linear transfer stops to gain within a factor "
         f"{p.factor:g} of the n at which the power law of scratch training falls to what the features leave out",
         near, 0.0, None, "log₂ of the allowed over the actual factor"),
        ("anchor_helps", f"With most units ablated, {penalty} raises the gain, on the mean over n",
         held.mean(axis=1) - free.mean(axis=1), 0.0, ANCHOR),
        ("anchor_turns", f"At n = {held.columns.min():g} {penalty} turns a loss of linear transfer into a gain",
         np.minimum(-free.mean().iloc[0], held.iloc[:, 0]), 0.0, ANCHOR),
        ("anchor_avoids", f"With {penalty} linear transfer loses at no n",
         held[held.mean().idxmin()], 0.0, ANCHOR),
    ]  # fmt: skip


def _table(runs, quantity):
    """A quantity by seed and ablated share."""
    return runs.data[[quantity]].to_dataframe().pivot_table(quantity, "seed", "ablated")


def _mean(runs, quantity):
    return _table(runs, quantity).mean(axis=1)


def _rank_correlation(table):
    """Spearman's correlation of each row with its columns' labels, by seed."""
    return table.apply(lambda row: row.corr(pd.Series(row.index, row.index), method="spearman"), axis=1)


def _boundary_error(gain, left_out, scratch, smallest):
    """log₂ of observed over predicted n, by seed; NaN for seeds that gain or lose at every n."""
    risks = scratch.data[["risk_final"]].to_dataframe().pivot_table("risk_final", "seed", "samples")
    law = power_law.fit(risks[[n for n in risks if n >= smallest]])
    log_n = np.log2(gain.columns.to_numpy(dtype=float))
    crossings = {}
    for seed, row in gain.iterrows():
        lost = np.flatnonzero(row.to_numpy() < 0)
        after = lost[0] if len(lost) else 0
        pair = row.to_numpy()[after - 1 : after + 1] if after else np.full(2, np.nan)
        crossings[seed] = log_n[after - 1] + pair[0] / (pair[0] - pair[1]) * (log_n[after] - log_n[after - 1])
    return pd.Series(crossings) - np.log2(law.samples(left_out))


def _anchors(runs):
    """Transferability by seed (rows) and n without an anchor, and with the one that is best on the mean."""
    tables = {anchor: rows.pivot_table("transferability", "seed", "samples") for anchor, rows in runs.groupby("anchor")}
    free = tables.pop(0.0)
    return free, max(tables.values(), key=lambda table: table.to_numpy().mean())
