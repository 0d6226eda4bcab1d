"""Where linear transfer starts and stops to gain, and which strength of an anchor gains most ("Features are fate",
sections 3.3 and 4, Fig. 9)."""

import numpy as np
import pandas as pd

from carryover.analysis.transferability import normalised, transferability
from carryover.errors import UserError

BLOCKS = {"few": "up to half as many samples as dimensions",
          "many": "samples from half as many as dimensions to nearly as many",
          "more": "more samples than dimensions"}  # fmt: skip
"""{name of a range of γ: in words}."""
_EDGES = {"few": (0.0, 0.5), "many": (0.5, 1.0), "more": (1.0, np.inf)}


def of_trained(risk, claims):
    """Claims (name, statement, …) on deep linear networks, which say so where these were trained, not solved."""
    solved = set(np.unique(risk["solver"])) == {"exact"}
    return [(name, statement if solved else f"{statement} (trained)", *rest) for name, statement, *rest in claims]


def in_block(gamma, name):
    """Which γ, a Series, are in a block, its upper edge too, but for γ = 1, where the risk from scratch has no mean."""
    above, most = _EDGES[name]
    return (gamma > above) & (gamma <= most) & (gamma != 1)


def gains(risk, readout):
    """`transferability` of linear transfer with one way to train the readout, for its longest flow time; risks are
    shares of the target's variance. UserError where no run has it."""
    runs = transferability(normalised(risk), "linear_transfer")
    if not (runs["readout"] == readout).any():
        known = ", ".join(sorted(runs["readout"].unique()))
        raise UserError(f"linear_transfer has no runs with the readout {readout}, only with {known}.")
    runs = runs[(runs["readout"] == readout) & (runs["solver"] == "exact")]  # not those that check it by steps
    return runs[runs["max_time"].isna() | (runs["max_time"] == runs["max_time"].max())]


def boundary(gain):
    """The number of samples n at which gains, a Series over n, turn from positive to negative, interpolated in log n.

    With noise they may change their sign more than once: n parts them so that those on the wrong side have the least
    sum. Infinite where they gain and 0 where they lose on all sides: then it lies beyond the numbers of samples.
    """
    gain = gain.sort_index()
    values, n = gain.to_numpy(), gain.index.to_numpy(dtype=float)
    before = np.concatenate([[0.0], np.cumsum(values)])
    after = (2 * before - before[-1]).argmax()  # gains before less gains from there on
    if after in (0, len(values)):
        return np.inf if after else 0.0
    pair, ends = values[after - 1 : after + 1], n[after - 1 : after + 1]
    return float(np.exp(np.interp(0.0, pair[::-1], np.log(ends[::-1]))).clip(*ends))


def sign_changes(gain):
    """{"falling": the first place x at which gains, a Series over x, turn from positive to negative, "rising": the last
    at which they turn positive}, interpolated in x; NaN where there is none."""
    gain = gain.sort_index()
    x, values = gain.index.to_numpy(dtype=float), gain.to_numpy()
    turns = np.flatnonzero(np.sign(values[1:]) * np.sign(values[:-1]) < 0)
    places = x[turns] - values[turns] * (x[turns + 1] - x[turns]) / (values[turns + 1] - values[turns])
    falling, rising = (places[sign * values[turns] > 0] for sign in (1, -1))
    return {"falling": falling[0] if len(falling) else np.nan, "rising": rising[-1] if len(rising) else np.nan}


def jackknife(statistic, seeds):
    """Values whose mean is a statistic of all seeds, without its bias of order 1/seeds, and whose spread is that of
    seeds: a Series. `statistic` takes a list of seeds."""
    seeds = list(seeds)
    whole = statistic(seeds)
    rest = {seed: statistic([other for other in seeds if other != seed]) for seed in seeds}
    return pd.Series({seed: len(seeds) * whole - (len(seeds) - 1) * value for seed, value in rest.items()})


def by_anchor(runs):
    """{anchor: gains by seed (rows) and n}, rising; UserError where they do not go from 0 over others to infinity."""
    tables = {anchor: rows.pivot_table("transferability", "seed", "samples") for anchor, rows in runs.groupby("anchor")}
    if not {0.0, np.inf} <= tables.keys() or len(tables) < 3:
        known = ", ".join(f"{anchor:g}" for anchor in tables)
        raise UserError(f"linear transfer is needed with the anchors 0, infinity and others between, not with {known}.")
    return tables


def chosen(tables):
    """Gains by seed and n with the anchor of the largest mean gain of all *other* seeds and n, a DataFrame.

    `tables` are those of `by_anchor` to choose among. A seed has no part in its own choice, which else would gain by
    chance alone.
    """
    means = pd.DataFrame({anchor: table.mean(axis=1) for anchor, table in tables.items()})
    best = {seed: means.drop(index=seed).mean().idxmax() for seed in means.index}
    return pd.DataFrame({seed: tables[anchor].loc[seed] for seed, anchor in best.items()}).T
