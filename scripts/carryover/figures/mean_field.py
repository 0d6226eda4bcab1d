"""Linear transfer of ReLU networks in the mean-field scaling ("Features are fate", Fig. 3 and 9).

A figure takes {role: xarray dataset over `run`} and its options `p`, and returns a Matplotlib figure.
"""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

from carryover.analysis.mean_field import READOUT, at_longest, boundary, gains, leave_one_out_choice
from carryover.analysis.transferability import FITTED, from_scratch
from carryover.config import plugins
from carryover.figures.drawing import layout, panels
from carryover.figures.titled import Titled
from carryover.runs import select_runs
from carryover.statistics import power_law

PUBLISHED = 1.18  # the paper's exponent ν
CUT = 0.5  # transferability at which colours end
READOUTS = "zero", "pretrained", "least_squares"  # how they are trained


@plugins.figure(data=["risk", "gram", "rkhs_residual"])
def mean_field_transfer(data, p: Titled):
    """What pretraining makes of the features, and where transfer beats training from scratch (Fig. 3).

    Roles: `risk`, `gram` and `rkhs_residual` of an experiment of the family mean_field.
    """
    ablated = 0.5  # share of the target's units that the source lacks, for the kernels that are shown
    titles = "b: risk from scratch", "c: its exponent ν", "d: left out by the features", "e: transferability"
    features = (("initial_rkhs_residual", "features before pretraining", "0.6"),
                ("rkhs_residual", "pretrained features", panels.COLORS["finetuning"]))  # fmt: skip
    risk, gram, left_out = (at_longest(data[role]) for role in ("risk", "gram", "rkhs_residual"))
    scales = panels.values(risk, "teacher_scale")
    fig = plt.figure(figsize=(13.5, 3.1 * (len(scales) + 1) + 0.6))
    above, *below = fig.subfigures(len(scales) + 1, 1, height_ratios=[0.85, *[1] * len(scales)])  # type: ignore[misc]
    _kernels(above, select_runs(gram, ablated=ablated), select_runs(risk, ablated=0.0), scales)
    rows = [part.subplots(1, 4, width_ratios=(1, 1, 1, 1.3)) for part in below]
    for part, row, scale in zip(below, rows, scales, strict=True):
        runs, outside = (select_runs(every, teacher_scale=scale) for every in (risk, left_out))
        law = _scratch(row[:2], from_scratch(runs))
        for name, label, color in features:
            table = outside[[name]].to_dataframe().pivot_table(name, "seed", "ablated")
            panels.band(row[2], table.columns, *panels.means(table), label, marker="o", color=color)  # type: ignore[call-arg]
        row[2].set(xlabel="ablated share μ of the target's units", ylabel="out-of-RKHS norm² / target power")
        row[2].set_ylim(bottom=0)
        image = _map(row[3], runs, outside, law)
        row[0].set_ylabel(f"{_name_scale(scale, scales)}\nrisk / target variance")
        part.colorbar(image, ax=row[3], label="transferability\n/ target variance, cut")
    for ax, title in zip(rows[0], titles, strict=True):
        ax.set_title(title)
    for same in zip(*(row[:3] for row in rows), strict=True):
        low, high = np.transpose([ax.get_ylim() for ax in same])
        plt.setp(same, ylim=(low.min(), high.max()))
    notes = (
        f"a: kernels at {gram.sizes['point']} inputs, one seed, μ = {ablated:g}, mean centred alignment with "
        "the kernel on the right, and the risk that pretraining leaves on the whole target (μ = 0)",
        "b to d: means with 95 % intervals",
        f"d: eigenvalues up to {float(left_out['cutoff'].values[0]):g} of the largest count as left out",
        f"e: means, cut at ±{CUT:g}, {panels.name(risk, 'readout', READOUT)}",
    )
    return layout.finish(fig, p.title, panels.seeds_in_words(risk), *notes)


def _kernels(fig, gram, risk, scales):
    """Draw kernels (point, point) of the first seed, all on one scale, in the subfigure `fig`, and say the alignment of
    the network's with the source's units. `gram` and `risk` are datasets over `run`, `scales` the teacher scales."""
    titles = {"initial_gram": "before", "gram": "pretrained", "source_gram": "source's units"}
    axes = fig.subplots(1, len(titles) * len(scales), squeeze=False)[0].reshape(len(scales), -1)
    firsts = [select_runs(gram, teacher_scale=scale).isel(run=0) for scale in scales]
    largest = float(max(first[name].max() for first in firsts for name in titles))
    for row, scale, first in zip(axes, scales, firsts, strict=True):
        runs, whole = (
            select_runs(gram, teacher_scale=scale),
            select_runs(risk, teacher_scale=scale, protocol="linear_transfer"),
        )
        before, after = (float(runs[name].mean()) for name in ("initial_alignment", "alignment"))
        left = float((2 * whole["pretrained_loss"] / whole["target_variance"]).mean())  # the loss is half a mean square
        after_in_words = f"alignment {after:.2f}\nsource risk, μ = 0: {left:.1%} of its variance"
        notes = f"alignment {before:.2f}", after_in_words, ""
        order = np.argsort(np.linalg.eigh(first["source_gram"].values)[1][:, -2])  # alike inputs next to each other
        for ax, (name, title), note in zip(row, titles.items(), notes, strict=True):
            image = ax.imshow(first[name].values[np.ix_(order, order)], cmap="viridis", vmin=0, vmax=largest)
            ax.set(xticks=[], yticks=[], title=title, xlabel=note)
            ax.grid(False)
        row[0].set_ylabel(_name_scale(scale, scales))
    axes[0, 0].set_title("a: before")
    fig.colorbar(image, ax=list(axes.flat), label="kernel k(x, x')", shrink=0.8)


def _name_scale(scale, scales):
    """A teacher's scale in words: features hardly move at the least of several, and do at the largest."""
    names = {min(scales): "lazy: ", max(scales): "rich: "} if len(scales) > 1 else {}
    return f"{names.get(scale, '')}teacher scale {scale:g}"


def _scratch(axes, table):
    """Draw the risk from scratch with its power law, and its exponents ν: between neighbouring n, and of fits from each
    n on. They would all be equal if the law were exact.

    `axes` are two, for risk and exponent; `table` has risks by seed (rows) and n (columns). Returns the `PowerLaw`."""
    risk, exponent = axes
    style = {"color": panels.COLORS["single_task"], "marker": "o"}
    panels.band(risk, table.columns, *panels.means(table), "from scratch", **style)  # type: ignore[call-arg]
    law, sizes = power_law.fit(table, FITTED), sorted(table)
    fine = np.array([FITTED, sizes[-1]])
    risk.plot(fine, law(fine), "k--", linewidth=1, label="power law")
    text = f"ν = {law.exponent:.2f} ({law.low:.2f}–{law.high:.2f}), n ≥ {FITTED:g}"
    risk.text(0.05, 0.06, text, transform=risk.transAxes, fontsize="small")
    risk.set(yscale="log", xlabel="target samples n", ylabel="risk / target variance")
    layout.plain_decades(risk.yaxis)
    local = {np.sqrt(low * high): power_law.fit(table[[low, high]]) for low, high in pairwise(sizes)}
    windows = {n: power_law.fit(table, n) for n in sizes[:-1]}
    between, onwards = (np.transpose([(one.exponent, one.low, one.high) for one in laws.values()])
                        for laws in (local, windows))  # fmt: skip
    panels.points(exponent, list(local), between, "between neighbouring n", ms=4, linestyle="", **style)
    panels.band(exponent, list(windows), *onwards, "fitted from n on", color="#009E73", linewidth=1.2)  # type: ignore[call-arg]
    exponent.axhline(PUBLISHED, color="0.5", linewidth=1, linestyle=":", label=f"published {PUBLISHED:g}")
    exponent.set(xlabel="target samples n", ylabel="exponent ν of the risk")
    for ax in axes:
        layout.name_ticks(ax, sizes, 2)
    return law


def _map(ax, runs, outside, law):
    """Draw the mean transferability by n and μ, its change of sign for every training of the readout, and the n at
    which the power law, `law`, falls to the least risk of the features, a variable of `outside`. Returns the mesh."""
    trained = set(runs["readout"].values)
    styles = {readout: style for readout, style in zip(READOUTS, panels.LINES, strict=False) if readout in trained}
    maps = {readout: gains(runs, readout).pivot_table("transferability", "ablated", "samples") for readout in styles}
    square = maps[READOUT]
    middle, rows = np.log2(square.columns.to_numpy(dtype=float)), np.arange(len(square))
    image = panels.gain_map(ax, middle, rows, square.values, CUT)
    for readout, style in styles.items():
        n = maps[readout].apply(boundary, axis=1).to_numpy()
        log_n = np.log2(np.where(n > 0, n, np.inf))  # infinite, and so not drawn, where there is no boundary
        label = f"found, {panels.name(runs, 'readout', readout)}"
        ax.plot(log_n, rows, style, marker="x", ms=4, color="k", linewidth=1.2, label=label)
    least = outside["least_risk"].groupby("ablated").mean().sel(ablated=square.index.to_numpy()).values
    predicted = np.log2(law.samples(np.maximum(least, np.finfo(float).tiny)))
    ax.plot(predicted, rows, "o", mfc="0.7", mec="k", label="predicted boundary")
    ax.set_xticks(middle, [f"{n:g}" for n in square.columns])
    ax.set_yticks(rows, [f"{mu:g}" for mu in square.index])
    ax.set(xlabel="target samples n", ylabel="ablated share μ", xlim=(middle[0] - 0.5, middle[-1] + 0.5))
    return image


@plugins.figure(data=["risk", "gram"])
def mean_field_anchor(data, p: Titled):
    """Pretraining between lazy and rich (Fig. 9): transferability by the penalty that keeps the features near their
    initial ones.

    Roles: `risk` and `gram` of an experiment of the family mean_field with several anchors, 0 and infinity.
    """
    # {how the readout is trained: colour, how far its bars stand apart, in decades}
    looks = dict(zip(READOUTS, (("#332288", -0.06), ("#DDCC77", 0.06), ("#117733", 0.0)), strict=True))
    ways = {way: look for way, look in looks.items() if way in data["risk"]["readout"]}
    features = {"alignment": ("c: pretrained features", "#D55E00"),
                "initial_alignment": ("c: before pretraining", "0.6")}  # fmt: skip
    look = {"marker": "o", "ms": 4, "linewidth": 1.2}
    risk, gram = at_longest(data["risk"]), at_longest(data["gram"])
    by_anchor = gains(risk, READOUT).pivot_table("transferability", "seed", ["anchor", "samples"])
    interior = by_anchor.drop(columns=[0.0, np.inf], level="anchor")
    fig, (gain, mean, aligned) = plt.subplots(1, 3, figsize=(13.5, 4.2), width_ratios=(1.3, 1.2, 1))
    others = interior.mean().unstack("anchor")
    gain.plot(others.index, others, color="0.8", linewidth=0.8, zorder=1, label="a: other λ")
    # As in the paper the rich end is pink and the best blue; the lazy end is grey.
    ends = {"a: λ = 0, rich": (by_anchor[0.0], "#CC79A7", 0.97),
            "a: best λ between them": (leave_one_out_choice(interior), "#0072B2", 1.0),
            "a: λ = ∞, initial features": (by_anchor[np.inf], "0.45", 1.03)}  # fmt: skip
    for label, (table, color, factor) in ends.items():
        panels.points(gain, table.columns.to_numpy() * factor, panels.means(table), label, color=color, **look)
    layout.name_ticks(gain, by_anchor[0.0].columns, 2)
    gain.set(xlabel="target samples n", ylabel="transferability / target variance")
    gain.set_title(f"a: readout by {panels.name(risk, 'readout', READOUT)}")

    # On the axes of b and c, 0 and infinity stand a decade outside the logarithms of the other anchors.
    between = interior.columns.unique("anchor")
    logs = [np.log10(anchor) for anchor in between]
    places = np.array([min(logs) - 1, *logs, max(logs) + 1])
    for way, (color, apart) in ways.items():
        table = gains(risk, way).pivot_table("transferability", "seed", "anchor")
        label = f"b: {panels.name(risk, 'readout', way)}"
        panels.points(mean, places + apart, panels.means(table), label, color=color, **look)
    for name, (label, color) in features.items():
        table = gram[[name]].to_dataframe().pivot_table(name, "seed", "anchor")
        panels.points(aligned, places, panels.means(table), label, color=color, **look)
    powers = [f"{anchor:g}" if float(round(np.log10(anchor), 9)).is_integer() else "" for anchor in between]
    for ax in (mean, aligned):
        ax.set_xticks(places, ["0", *powers, "∞"])
        ax.set_xlabel("penalty λ on the distance from the start")
    for ax in (gain, mean):
        ax.axhline(0, **layout.ZERO)
    mean.set_yscale("symlog", linthresh=0.2, linscale=1.5)
    mean.set(ylabel="mean transferability over n", title="b: by how the readout is trained")
    aligned.set(ylabel="alignment with the source's kernel", title="c: features")
    mu = float(select_runs(risk, protocol="linear_transfer")["ablated"].values[0])
    notes = (
        f"μ = {mu:g}, {panels.seeds_in_words(risk)}: means with 95 % intervals",
        "a: the best λ of each seed is that of the largest mean gain of all other seeds",
        "b: linear between ±0.2, logarithmic beyond",
    )
    return layout.finish(fig, p.title, *notes)
