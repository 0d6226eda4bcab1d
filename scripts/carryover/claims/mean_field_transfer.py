"""Linear transfer of ReLU networks in the mean-field scaling: features of the source, what they leave out, and where
that is too much ("Features are fate", section 4 and Fig. 9)."""

import numpy as np
import pandas as pd

from carryover.claims.support import checks
from carryover.claims.support.runs import Runs
from carryover.claims.support.transferability import boundary, by_anchor, gains, leave_one_out_choice, normalised
from carryover.statistics import intervals, power_law
from carryover.statistics.jackknife import pseudovalues

READOUT = "zero"  # how the readout was trained in the runs of linear transfer that claims are about
FITTED = 64  # fewest samples that the power law is fitted to
PUBLISHED = 1.18  # the paper's exponent ν of that power law
DIFFERENCE = 0.2  # difference from it that is agreement; of others in proportion
ALIKE = 0.9  # centred alignment from which on two kernels are nearly indistinguishable
LEARNED = 0.05  # share of its variance that a source that was learned leaves at most
OFTEN = 0.9  # share of the numbers of samples that are nearly all
FACTOR = 2.0  # factor between predicted and found boundary that counts as near
ANCHOR, MEAN = "5 and App. E, Fig. 9", "difference of transferabilities, mean over n"
KERNELS = "4, Fig. 3a–b", "alignment of kernels"
POWER_LAW = checks.own("4, Fig. 3c")  # which n the paper fits is not said
ROUNDING = 1e-12  # relative error of what agrees exactly


@checks.group("4, Fig. 3e", "transferability")
def check(data, p):
    """Roles: `risk`, `gram`, `out_of_rkhs` over ablated shares and scales of the teacher, and `anchored`, the risks of
    networks pretrained with several anchors. Statistics are means over seeds, risks shares of the target's variance."""
    gram, outside = (Runs(role, data[role]) for role in ("gram", "out_of_rkhs"))
    lazy, rich = gram.extremes("teacher_scale")
    gained = {scale: _mean(gram.where(teacher_scale=scale), "alignment") for scale in (lazy, rich)}
    left_out = _table(outside.where(teacher_scale=rich), "out_of_rkhs")
    scratch = _scratch(data["risk"], rich)
    runs = gains(data["risk"], READOUT)
    runs = runs[runs["teacher_scale"] == rich]
    most = runs["samples"].max()
    table = runs.pivot_table("transferability", "seed", ["ablated", "samples"])
    return [
        ("features", "Pretraining aligns the network's kernel with that of the source's units",
         gained[rich] - _mean(gram.where(teacher_scale=rich), "initial_alignment"), 0.0, *KERNELS),
        ("alike", "After pretraining, the network's kernel and that of the source's units are nearly indistinguishable",
         gained[rich], ALIKE, *KERNELS),
        ("source_learned", f"Pretraining on the whole target learns it, but for {LEARNED:g} of its variance",
         -_source_risk(Runs("risk", data["risk"]).where(teacher_scale=rich)), -LEARNED, "4",
         "share of the variance that the pretrained network leaves, with the sign changed"),
        ("richness", "Pretraining aligns the network's kernel the more, the larger the coefficients of the teacher are",
         gained[rich] - gained[lazy], 0.0, checks.OWN, KERNELS[1]),
        ("left_out", "The more of the target's units the source lacks, the more of the target its features leave out",
         _rank_correlation(left_out), 0.9, "4, Fig. 3d", "median rank correlation", intervals.median),
        ("helps", "From a source that has all units of the target, linear transfer gains at every number of samples",
         table[0.0].min(axis=1), 0.0, None, "smallest transferability over n"),
        ("hurts", f"From a source that lacks most units of the target, linear transfer loses at n = {most:g}",
         -table[runs["ablated"].max()][most], 0.0, None, "transferability, with the sign changed"),
        *_power_law(scratch),
        *_residual(runs, outside.where(teacher_scale=rich)),
        *_boundaries(table, outside.where(teacher_scale=rich), scratch),
        _boundary_trend(table, outside.where(teacher_scale=rich), scratch),
        *_anchors(by_anchor(gains(data["anchored"], READOUT))),
        *_by_steps(data["risk"], READOUT),
    ]  # fmt: skip


def _scratch(risk, scale):
    """Risk of training from scratch by seed and n, as a share of the target's variance."""
    runs = Runs("risk", normalised(risk)).where(teacher_scale=scale, protocol="single_task")
    return runs.data[["risk_final"]].to_dataframe().pivot_table("risk_final", "seed", "samples")


def _power_law(scratch):
    """Exponents of fits to the risk from scratch: beside the published one, and of fewer beside more samples."""
    fitted = scratch[[n for n in scratch if n >= FITTED]]
    half = len(fitted.columns) // 2
    few, many = (
        lambda seeds, part=part: power_law.fit(part.loc[seeds]).exponent
        for part in (fitted.iloc[:, : len(fitted.columns) - half], fitted.iloc[:, half:])
    )

    def whole(seeds):
        return power_law.fit(fitted.loc[seeds]).exponent

    def steeper(seeds):
        return many(seeds) / few(seeds) - 1

    seeds, found = list(scratch.index), power_law.fit(fitted)
    measured = f"allowed less actual difference of ν; found is ν = {found.exponent:.2f}"
    return [
        ("exponent", f"From n = {fitted.columns[0]:g} on, the risk from scratch falls like n^−{PUBLISHED:g}",
         intervals.equivalence_margin(pseudovalues(whole, seeds), DIFFERENCE, PUBLISHED), 0.0, POWER_LAW,
         measured),
        ("power_law", f"From n = {fitted.columns[0]:g} on, the risk from scratch is one power law: ν stays what it is",
         intervals.equivalence_margin(pseudovalues(steeper, seeds), DIFFERENCE / PUBLISHED), 0.0,
         POWER_LAW,
         f"allowed less actual relative difference of ν; {few(seeds):.2f} and {many(seeds):.2f}"),
    ]  # fmt: skip


def _residual(runs, outside):
    """Equation 18: what the risk of linear transfer has above what no readout of the features gets below, means over
    sources that lack units."""
    lacking = runs[runs["ablated"] > 0]
    least = _table(outside, "least_risk")
    risks = lacking.pivot_table("risk", ["seed", "ablated"], "samples")
    floor = least.stack().reindex(risks.index)
    excess = risks.sub(floor, axis=0).groupby("seed").mean()
    share = (floor / risks.iloc[:, -1]).groupby("seed").mean()
    sizes = risks.columns
    return [
        ("residual", f"At n = {sizes[-1]:g} most of the risk of linear transfer is what the features leave out of the "
         "target", share, 0.5, "4, eq 18", "share of the risk"),
        ("excess", "What the risk of linear transfer has above the part that the features leave out falls with n",
         excess.iloc[:, 0] / excess.iloc[:, -1], 1.0, "4, eq 18",
         f"ratio of C(n) of eq 18 at n = {sizes[0]:g} to that at n = {sizes[-1]:g}"),
    ]  # fmt: skip


def _by_steps(risk, readout):
    """Readouts that descend, beside the closed form of their flow on the same features and data."""
    frame = risk[["risk_final"]].to_dataframe()
    frame = frame[(frame["protocol"] == "linear_transfer") & (frame["readout"] == readout)]
    if not (frame["solver"] == "descent").any():
        return []
    keys = ["seed", "teacher_scale", "ablated", "samples", "draw"]
    solved, descended = (frame[frame["solver"] == name].set_index(keys)["risk_final"] for name in ("exact", "descent"))
    off = (descended / solved.reindex(descended.index) - 1).abs().groupby("seed").max().clip(lower=ROUNDING)
    return [
        ("by_steps", "A readout trained by gradient descent has the risk of the closed form of its flow, to 1 %",
         -np.log10(off / 0.01), 0.0, checks.OWN, "log₁₀ of the allowed over the largest relative error"),
    ]  # fmt: skip


def _source_risk(runs):
    """Risk of the pretrained network on a source that has all units of the target, by seed, as a share of its variance;
    its loss is half of the mean square."""
    whole = runs.where(protocol="linear_transfer", ablated=0.0).data
    return (2 * whole["pretrained_loss"] / whole["target_variance"]).groupby("seed").first().to_series()


def _table(runs, quantity):
    """A quantity by seed and ablated share."""
    return runs.data[[quantity]].to_dataframe().pivot_table(quantity, "seed", "ablated")


def _mean(runs, quantity):
    return _table(runs, quantity).mean(axis=1)


def _rank_correlation(table):
    """Spearman's correlation of each row with its columns' labels, by seed."""
    return table.apply(lambda row: row.corr(pd.Series(row.index, row.index), method="spearman"), axis=1)


def _boundaries(table, outside, scratch):
    """A claim for each ablated share but 0, whose boundary lies at infinity: what is found of the means over seeds is
    near what is predicted of them.

    A boundary beyond the numbers of samples is at least as far off as their end: where that is too far from what is
    predicted, on this side of it, the claim fails, and else nothing is known.
    """
    least, ends = _table(outside, "least_risk"), (scratch.columns.min(), scratch.columns.max())
    for ablated in [share for share in least if share > 0]:

        def found(seeds, gain=table[ablated]):
            return boundary(gain.loc[seeds].mean())

        def predicted(seeds, least=least[ablated]):
            return power_law.fit(scratch.loc[seeds], FITTED).samples(least.loc[seeds].mean())

        def off(seeds, found=found, predicted=predicted):
            return np.log2(np.clip(found(seeds), *ends) / predicted(seeds))

        seeds, near = list(table.index), np.log2(FACTOR)
        n = found(seeds)
        known = 0 < n < np.inf or (off(seeds) > near if n else off(seeds) < -near)
        values = intervals.equivalence_margin(pseudovalues(off, seeds), near) if known else pd.Series(np.nan, seeds)
        yield (
            f"boundary_{100 * ablated:g}",
            f"From a source that lacks {100 * ablated:g} % of the units, linear transfer stops to gain within a "
            f"factor {FACTOR:g} of the n at which the power law of the risk from scratch meets what the features "
            "leave out",
            values, 0.0, None,
            f"log₂ of the allowed over the actual factor; {_told(n)}, predicted is n = "
            f"{predicted(seeds):.0f}",
        )  # fmt: skip


def _boundary_trend(table, outside, scratch):
    """Whether the sign of the gain is that of the power law less the least risk of the features more often with many
    samples than with few, over sources that lack units."""
    law, least = power_law.fit(scratch, FITTED), _table(outside, "least_risk").mean()
    lacking = table.loc[:, table.columns.get_level_values("ablated") > 0]
    predicted = [law(n) - least[ablated] for ablated, n in lacking.columns]
    right = (np.sign(lacking) == np.sign(predicted)).T.groupby(level="samples").mean().T
    half = right.shape[1] // 2
    few, many = right.iloc[:, :-half], right.iloc[:, -half:]
    return (
        "boundary_trend", f"The predicted boundary of linear transfer is right more often from n = "
        f"{many.columns[0]:g} on than up to n = {few.columns[-1]:g}", many.mean(axis=1) - few.mean(axis=1), 0.0, None,
        "difference of shares of cells with the predicted sign",
    )  # fmt: skip


def _told(n):
    """A boundary that was found, in words."""
    if 0 < n < np.inf:
        return f"found is n = {n:.0f}"
    return "it gains at every n" if n else "it loses at every n"


def _anchors(tables):
    """Claims about networks whose features were held near their start; each seed's best penalty is that of others, but
    where the paper's choice, by the risk itself, is said."""
    initial = tables.pop(np.inf)
    by_risk = pd.concat(tables.values()).groupby(level=0).max()
    free = tables.pop(0.0)
    held = leave_one_out_choice(tables)
    better = max((free, initial), key=lambda table: table.to_numpy().mean())
    by_size = pd.DataFrame({n: leave_one_out_choice({a: table[[n]] for a, table in tables.items()})[n] for n in held})
    source = "From a source that lacks most units"
    return [
        ("anchor_helps", f"{source}, pretraining between lazy and rich transfers better than fully rich pretraining",
         held.mean(axis=1) - free.mean(axis=1), 0.0, ANCHOR, MEAN),
        ("anchor_interior", f"{source}, pretraining between lazy and rich transfers better than either end",
         held.mean(axis=1) - better.mean(axis=1), 0.0, ANCHOR, MEAN),
        ("anchor_turns", f"At n = {held.columns.min():g}, fully rich pretraining transfers negatively, and pretraining "
         "between lazy and rich does not", np.minimum(-free.mean().iloc[0], held.iloc[:, 0]), 0.0, ANCHOR),
        ("anchor_avoids", "Pretraining that lies optimally between lazy and rich, by the risk, avoids negative "
         "transfer at every n", by_risk[by_risk.mean().idxmin()], 0.0, ANCHOR, "smallest transferability over n"),
        ("anchor_avoids_others", "Pretraining that lies between lazy and rich, as is best for other teachers, avoids "
         "negative transfer at every n", by_size[by_size.mean().idxmin()], 0.0, checks.own(ANCHOR),
         "smallest transferability over n"),
        ("lazy_loses", f"{source}, lazy pretraining does not beat training from scratch at most n",
         (initial <= 0).mean(axis=1), 0.5, "5", "share of the numbers of samples"),
        ("rich_loses", f"{source}, fully rich pretraining transfers negatively at nearly all n",
         (free < 0).mean(axis=1), OFTEN, ANCHOR, "share of the numbers of samples"),
    ]  # fmt: skip
