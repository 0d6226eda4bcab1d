"""Where linear transfer and finetuning of deep linear networks help, what penalties do to it, and whether distances of
the data predict it ("Features are fate", sections 2 and 3; "Finetuning with linear teachers", eq 5).

Each check takes {role: xarray dataset over `run`} and returns {name: `Check`}; `claims.yaml` says what a name claims.
`transferability` makes data frames with a row for each transferred run: its coordinates, among them `gamma` = n/d,
`angle` in units of π and `noise` σ, `risk`, that from `scratch`, and `transferability`, scratch less risk.
"""

import numpy as np
import pandas as pd

from carryover.analysis.run_tables import Runs, nearest, only, worst
from carryover.analysis.transferability import at_critical, at_rows, predict, transferability, with_decay
from carryover.claims.support.checks import Check, checks, join_numbers
from carryover.config import plugins
from carryover.statistics.intervals import median
from carryover.statistics.jackknife import leave_one_out, pseudovalues
from carryover.theory import transfer

NOISE = 0.2  # the paper's standard deviation of the label noise
MARGIN = 0.05  # points at which theory is nearer to 0 say nothing about its sign
RIDGE = 0.1  # ridge penalty that is compared with none
ANGLE = 0.25  # angle θ at which boundaries of linear transfer are looked for, in units of π
GAMMA = 0.5  # samples per dimension at which the sign of finetuning changes with the angle
ENOUGH = 100  # samples from which on the term of order 1/n is small
BLOCKS = {
    "few": "up to half as many samples as dimensions",
    "many": "samples from half as many as dimensions to nearly as many",
    "more": "more samples than dimensions",
}
"""Ranges of γ in words, each with its upper edge."""
FORMULAS = {"eq15": "finetuning", "factor": "finetuning_norm"}
"""Equation 15, and that with the norm factor of eq 5 of "Finetuning with linear teachers"."""


def _training_note(risk):
    """What statements end with: " (trained)" unless all networks were solved exactly."""
    return "" if set(np.unique(risk["solver"])) == {"exact"} else " (trained)"


@plugins.check(data=["diagram"], optional=["loud", "ridge", "decay"])
def linear_transfer(data):
    """Roles: `diagram` of single-task and linearly transferred networks; `loud`, the same with more label noise than
    signal; and, for the claims on penalties, `ridge` of transfer with ridge penalties and `decay` of transfer and of
    single-task networks with weight decay. Statistics are means over draws, or medians near γ = 1."""
    all_runs = transferability(data["diagram"], "linear_transfer").set_index("seed")
    runs = all_runs.query("gamma != 1")  # the risk from scratch has no mean at γ = 1
    results = _boundaries(runs)

    # Equations 8 and 10 block by block.
    noisy = runs.query("noise > 0")
    scratch = transfer.scratch_risk(noisy["gamma"], noisy["noise"])
    linear = transfer.linear_transfer_risk(np.pi * noisy["angle"], noisy["noise"], noisy["samples"])
    for quantity, ratio in (("scratch", noisy["scratch"] / scratch), ("linear", noisy["risk"] / linear)):
        for block, means in _by_block(ratio, noisy).items():
            results |= checks({f"{quantity}_{block}": means}, block=BLOCKS[block])

    gain, theory = runs["transferability"], predict("linear", runs)
    at_noise = all_runs[all_runs["noise"] == nearest(all_runs, "noise", NOISE)]
    same_sign = np.sign(at_noise["transferability"]) == np.sign(predict("linear", at_noise))
    negative_share = (gain < 0).groupby(["seed", runs["noise"]]).mean().unstack("noise")
    # Near γ = 1 the risk from scratch has heavy tails: of gains the median is taken. Shares of losses must shrink from
    # each noise to the next.
    signs = {
        "negative": gain[theory < -MARGIN].groupby("seed").mean(),
        "positive": gain[theory > MARGIN].groupby("seed").median(),
        "signs": same_sign.groupby("seed").mean(),
        "shrinks": -negative_share.diff(axis=1).iloc[:, 1:].max(axis=1),
    }
    results = checks(
        results | checks(signs, noises=join_numbers(negative_share.columns)), trained=_training_note(data["diagram"])
    )

    if "loud" in data:
        # Where the signal-to-noise ratio is below 1: at the point (σ, n, θ) of the smallest mean.
        loud = transferability(data["loud"], "linear_transfer").query("noise > 1 and gamma < 1 and samples >= @ENOUGH")
        results |= checks({"loud": worst(loud.pivot_table("transferability", "seed", ["noise", "samples", "angle"]))})
    if "ridge" in data:
        results |= _ridge(Runs("ridge", data["ridge"]).where(protocol="linear_transfer"))
    if "decay" in data:
        # For orthogonal tasks: without weight decay, and with that of the smallest risk or validation loss.
        decayed = (with_decay(data["decay"], by) for by in (None, "risk_final", "validation_loss"))
        by_decay = (transferability(data["decay"], "linear_transfer", networks) for networks in decayed)
        without, best, by_validation = (at_critical(table[np.isclose(table["angle"], 0.5)]) for table in by_decay)
        results |= checks({"anomalous": without, "regularised_best": best, "regularised": by_validation}, median)
    return results


def _by_block(values, runs):
    """Means of values, a Series indexed by seed like the rows of `runs`, by seed (rows) and block of γ (columns)."""
    blocks = pd.cut(runs["gamma"], [0, 0.5, 1, np.inf], labels=list(BLOCKS))
    return values.groupby(["seed", blocks], observed=False).mean().unstack()


def _boundaries(runs):
    """Checks of where the mean transferability changes its sign against eq 11: of the γ at one angle, and of the least
    angle.

    `runs` is a data frame by `transferability`, indexed by seed. A boundary is that of a mean over seeds, so a seed has
    none of its own: jackknife pseudovalues stand for them.
    """
    angle, noise = nearest(runs, "angle", ANGLE), nearest(runs, "noise", NOISE)
    noisy_runs, quiet_runs = (runs[runs["noise"] == level] for level in (noise, 0))
    noisy, quiet = (part[part["angle"] == angle] for part in (noisy_runs, quiet_runs))
    theta = np.pi * angle
    low, high = transfer.negative_transfer_interval(theta, noise)

    def sign_change(chosen, expected, from_right=False):
        """A check of the first γ at which transferability turns negative, from the left or from the right."""
        table = chosen.pivot_table("transferability", "seed", "gamma").sort_index(axis=1, ascending=not from_right)
        changes = pseudovalues(leave_one_out(lambda seeds: first_loss(table.loc[seeds].mean()), table.index))
        return Check(changes - expected, facts={"expected": expected})

    by_angle = noisy_runs.query("gamma < 1").pivot_table("transferability", "seed", ["angle", "gamma"])

    def first_angle(seeds):
        """The angle from which on the mean transferability is negative at some γ < 1."""
        return first_loss(by_angle.loc[seeds].mean().groupby("angle").min())

    onset = np.arccos(1 - noise) / np.pi  # eq 11 is negative at some γ < 1 where σ < 1 − cos θ
    angles = pseudovalues(leave_one_out(first_angle, by_angle.index))
    return checks({
        "onset": Check(angles - onset, facts={"noise": noise, "expected": onset}),
        "boundary_low": sign_change(noisy.query("gamma < 1"), low),
        "boundary_high": sign_change(noisy.query("gamma < 1"), high, from_right=True),
        "boundary_above": sign_change(noisy.query("gamma > 1"), transfer.negative_transfer_threshold(theta, noise)),
        "boundary_quiet": sign_change(quiet.query("gamma < 1"), np.cos(theta) ** 2),
    }, angle=angle)  # fmt: skip


def _ridge(runs):
    """Checks of eq 10's term in 1/n without a penalty, of eq 13, and of the effect of penalties at the largest angle
    below π/2: for orthogonal tasks no penalty is too large. `runs` is a `Runs` of linear transfer."""
    unpenalised = runs.where(ridge=0.0).data
    missed, samples = np.sin(np.pi * unpenalised["angle"]) ** 2, unpenalised["samples"]
    # By eq 10 the risk is sin²θ + (σ² + sin²θ)/(n − 2), so that this is 1; its mean exists for n > 2.
    term = (unpenalised["risk_final"] - missed) * (samples - 2) / (unpenalised["noise"] ** 2 + missed)
    term = term.where(samples > 2).groupby("seed").mean().to_series()
    fewest, most = runs.extremes("samples")
    many = runs.where(samples=most).data
    error = many["risk_final"] / transfer.ridge_transfer_risk(np.pi * many["angle"], many["ridge"]) - 1
    acute = runs.where(angle=max(angle for angle in runs.options("angle") if angle < 0.5))
    risks = acute.table("risk_final", "samples", "ridge")
    best = {n: risks[n].to_numpy().argmin(axis=1) for n in (fewest, most)}  # place of the best penalty, by seed
    return checks({
        "one_over_n": term,
        "ridge_formula": error.groupby("seed").mean().to_series(),
        "ridge_hurts": risks[most, RIDGE] - risks[most, 0.0],
        "ridge_vanishes": best[fewest] - best[most],
    }, fewest=fewest, most=most)  # fmt: skip


def first_loss(gain):
    """The first x at which gains, a Series over x, turn from positive to negative, interpolated; or NaN."""
    x, values = gain.index.to_numpy(dtype=float), gain.to_numpy()
    changes = np.flatnonzero((values[:-1] > 0) & (values[1:] < 0))
    if not len(changes):
        return np.nan
    around = changes[0] + np.array([1, 0])  # np.interp needs rising values
    return np.interp(0.0, values[around], x[around])


@plugins.check(data=["diagram"], optional=["simulated"])
def linear_finetuning(data):
    """Roles: `diagram` of networks, and, for the claim on both formulas, `simulated` runs of several depths and noises
    trained by gradient descent. Statistics are means over draws."""
    runs = transferability(data["diagram"], "finetuning").set_index("seed").query("gamma != 1")
    quiet, paper, loud = runs["noise"].min(), nearest(runs, "noise", NOISE), runs["noise"].max()

    # Mean errors of both formulas, each of the run's own draw, over blocks of γ < 1, at the paper's noise and at the
    # strongest. Half of the mean difference between the formulas is allowed, so that the claims on both cannot hold.
    below = _with_formulas(runs)
    results: dict = {}
    for prefix, noise in {"": paper, "loud_": loud}.items():
        at_noise = below[below["noise"] == noise]
        difference = np.subtract(*(predict(name, at_noise) for name in FORMULAS.values()))
        allowed = _by_block(pd.Series(abs(difference), at_noise.index), at_noise).mean() / 2
        for formula in FORMULAS:
            errors = _by_block(at_noise["transferability"] - at_noise[formula], at_noise)
            for block in ("few", "many"):  # beyond, formulas and networks agree because both are 0
                values = errors[block] / allowed[block]
                results |= checks({f"{formula}_{prefix}{block}": values}, noise=noise, block=BLOCKS[block])

    # The angle at which finetuning turns from a help to a harm, compared with that of both formulas.
    gamma = nearest(runs, "gamma", GAMMA)
    gains = runs[runs["gamma"] == gamma].pivot_table("transferability", ["noise", "seed"], "angle")
    angles = gains.apply(first_loss, axis=1)
    at_quiet, at_paper, at_loud = (angles[noise] for noise in (quiet, paper, loud))
    angle = transfer.finetune_boundary(gamma, loud, int(only(data["diagram"], "depth"))) / np.pi
    # Eq 15 has the boundary π/3 at every noise, the norm factor another, `angle`.
    results |= checks({
        "third_quiet": at_quiet - 1 / 3,
        "third_noisy": at_loud - 1 / 3,
        "third_paper": at_paper - 1 / 3,
        "noisy": at_loud - angle,
        "moved": at_quiet - at_loud,
    }, quiet=quiet, paper=paper, loud=loud, angle=angle)  # fmt: skip

    if trained := _training_note(data["diagram"]):  # exact limits satisfy this by algebra
        results["forgotten"] = runs.query("gamma > 1")["transferability"].abs().groupby("seed").max()
    results = checks(results, trained=trained)
    if "simulated" in data:
        # By seed, mean squared distance of a point from eq 15 less that from eq 15 with the norm factor.
        simulated = transferability(data["simulated"], "finetuning").set_index("seed")
        simulated = simulated.query("solver == 'descent' and depth > 1 and gamma < 1")
        gain = simulated["transferability"]
        without, with_factor = ((gain - predict(formula, simulated)) ** 2 for formula in FORMULAS.values())
        results |= checks({"norm_factor": (without - with_factor).groupby("seed").mean()})
    return results


def _with_formulas(runs):
    """The rows with γ < 1 of `runs`, a data frame indexed by seed, with a column for each of `FORMULAS`: the
    transferability by that formula for the samples of the run, without the mean over draws.

    P∥ projects on the span of the samples, P⊥ on its orthogonal complement. Finetuning multiplies P⊥β_s by a factor φ,
    so that transferability is 2φ β_s·P⊥β_t − φ²|P⊥β_s|²; eq 15 is its mean over draws for φ = 1. The projections
    follow from the risks from scratch of the same draw: without noise these are |P⊥β_t|² = cos²θ |P⊥β_s|² +
    sin 2θ β_s·P⊥ν + sin²θ |P⊥ν|² at every angle θ, and noise adds |X⁺ε|². The norm |X⁺y|², on which φ depends, is
    approximate: it lacks the product of X⁺ε and P∥β_t, whose mean is 0.
    """
    below = runs.query("gamma < 1")
    quiet = below[below["noise"] == 0].pivot_table("scratch", "angle", ["seed", "gamma"])

    # β_t = cos θ β_s + sin θ ν. Least squares over θ give |P⊥β_s|², β_s·P⊥ν and |P⊥ν|² of each seed and γ.
    def parts(theta):
        return np.stack([np.cos(theta) ** 2, np.sin(2 * theta), np.sin(theta) ** 2], axis=-1)

    projections = np.linalg.lstsq(parts(np.pi * quiet.index.to_numpy()), quiet.to_numpy())[0]
    own = pd.DataFrame(projections.T, quiet.columns).reindex(pd.MultiIndex.from_arrays([below.index, below["gamma"]]))
    theta, (source, crossed, _) = np.pi * below["angle"].to_numpy(), own.to_numpy().T
    # |P⊥β_t|²; β_s·P⊥β_t; and |P∥β_t|² + |X⁺ε|², of which the last is the risk from scratch less |P⊥β_t|².
    missed = (parts(theta) * own.to_numpy()).sum(axis=1)
    overlap = np.cos(theta) * source + np.sin(theta) * crossed
    fitted = (1 - missed) + (below["scratch"] - missed)
    factor = transfer.norm_factor(fitted, source, below["depth"])
    gains = {name: 2 * phi * overlap - phi**2 * source for name, phi in (("eq15", 1), ("factor", factor))}
    return below.assign(**gains)


@plugins.check(data=["diagram", "risk", "distances"])
def dataset_distances(data):
    """Roles: `diagram`, linear transfer to targets of one norm at angles up to π/2, over samples and noises; `risk`,
    linear transfer to targets of several norms at any angle; `distances` of these targets' data from the source's.
    Statistics are means over draws, of rank correlations and of a gain."""
    kl = data["distances"]["kl"]  # Kullback-Leibler divergence by target norm and angle
    noise, gamma = (only(data["risk"], name) for name in ("noise", "gamma"))
    # The paper's setup: one norm of the target and angles up to π/2. At γ = 1 the risk from scratch has no mean.
    setup = transferability(data["diagram"], "linear_transfer").query("gamma != 1")
    setup = setup[setup["noise"] == nearest(setup, "noise", noise)]
    single = kl.sel(target_norm=1.0)
    setup = setup.assign(kl=np.interp(setup["angle"], single["angle"], single))
    runs = transferability(data["risk"], "linear_transfer")
    runs = runs.assign(kl=at_rows(kl, runs))
    same = runs[runs["target_norm"] == 1]
    farthest = runs.loc[runs.groupby("seed")["kl"].idxmax()].set_index("seed")

    def order(runs):
        """Rank correlation of transferability and distance by seed."""
        return runs.groupby("seed")["transferability"].corr(runs["kl"], method="spearman")

    return checks({
        "kl_setup": order(setup),
        "not_kl": order(same),
        # At the angle π the source's one feature still spans the target; NaN if another target is the farthest.
        "same_features": farthest["transferability"].where(farthest["angle"] == 1),
        "monotone": order(same[same["angle"] <= 0.5]),
    }, gamma=gamma)  # fmt: skip
