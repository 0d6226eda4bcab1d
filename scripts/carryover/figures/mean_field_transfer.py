"""Linear transfer of ReLU networks in the mean-field scaling ("Features are fate", Fig. 3): what pretraining makes of
the features, and where transfer beats training from scratch."""

from itertools import product

import matplotlib.pyplot as plt
import numpy as np

from carryover.claims.support.transferability import boundary, gains, normalised
from carryover.figures.drawing import layout, panels
from carryover.runs import where
from carryover.statistics import power_law

ABLATED = 0.5  # share of ablated units of the kernels that are shown
READOUT = "zero"  # how the readout was trained in the linear transfer that is shown as a map
SMALLEST = 64  # samples that the power law is fitted to, at least
PUBLISHED = 1.18  # the paper's exponent of the power law
CUT = 0.5  # transferability at which colours end
GRAMS = {"initial_gram": "before", "gram": "pretrained", "source_gram": "source's units"}
ALIGNED = {"initial_gram": "initial_alignment", "gram": "alignment"}
TITLES = "b: risk from scratch", "c: its exponent ν", "d: left out by the features", "e: transferability"
BOUNDARIES = {"zero": "-", "pretrained": "--", "least_squares": ":"}
"""Styles of the boundaries found, by how the readout was trained."""
FEATURES = (
    ("initial_out_of_rkhs", "features before pretraining", "0.6"),
    ("out_of_rkhs", "pretrained features", panels.COLORS["finetuning"]),
)


def draw(data, p):
    """Roles: `risk`, `gram` and `out_of_rkhs` of an experiment of the family mean_field."""
    risk = data["risk"]
    scales = panels.values(risk, "teacher_scale")
    fig = plt.figure(figsize=(13.5, 3.1 * (len(scales) + 1) + 0.6))
    above, *below = fig.subfigures(len(scales) + 1, 1, height_ratios=[0.85, *[1] * len(scales)])
    _kernels(above, where(data["gram"], ablated=ABLATED), where(risk, ablated=0.0), scales)
    compared = []
    for part, scale in zip(below, scales, strict=True):
        row = part.subplots(1, 4, width_ratios=(1, 1, 1, 1.3))
        runs, outside = (where(role, teacher_scale=scale) for role in (risk, data["out_of_rkhs"]))
        law = _scratch(row[:2], where(normalised(runs), protocol="single_task"))
        for name, label, color in FEATURES:
            table = outside[[name]].to_dataframe().pivot_table(name, "seed", "ablated")
            panels.band(row[2], table.columns, *panels.means(table), label, marker="o", color=color)
        row[2].set(xlabel="ablated share μ of the target's units", ylabel="out-of-RKHS norm² / target power")
        row[2].set_ylim(bottom=0)
        image = _map(row[3], runs, outside, law)
        row[0].set_ylabel(f"teacher scale {scale:g}\nrisk / target variance")
        if scale == scales[0]:
            for ax, label in zip(row, TITLES, strict=True):
                ax.set_title(label)
        part.colorbar(image, ax=row[3], label="transferability\n/ target variance, cut")
        compared.append(row[:3])
    for same in zip(*compared, strict=True):
        low, high = np.transpose([ax.get_ylim() for ax in same])
        for ax in same:
            ax.set_ylim(low.min(), high.max())
    notes = (
        f"a: kernels at {data['gram'].sizes['point']} inputs, one seed, μ = {ABLATED:g}, mean centred alignment with "
        "the kernel on the right, and the risk that pretraining leaves on the whole target (μ = 0)",
        "b to d: means with 95 % intervals",
        f"d: eigenvalues up to {float(data['out_of_rkhs']['cutoff'].values[0]):g} of the largest count as left out",
        f"e: means, cut at ±{CUT:g}, {panels.name(risk, 'readout', READOUT)}",
    )
    return layout.finish(fig, p.title, panels.seeds_in_words(risk), *notes)


def _kernels(fig, gram, risk, scales):
    """Kernels of the first seed, all on one scale, and the alignment of the network's with the source's units."""
    axes = fig.subplots(1, len(GRAMS) * len(scales), squeeze=False)[0]
    largest = float(max(where(gram, teacher_scale=scale)[name].isel(run=0).max() for scale in scales for name in GRAMS))
    for ax, (scale, name) in zip(axes, product(scales, GRAMS), strict=True):
        runs = where(gram, teacher_scale=scale)
        first = runs.isel(run=0)
        order = np.argsort(np.linalg.eigh(first["source_gram"].values)[1][:, -2])  # alike inputs beside each other
        image = ax.imshow(first[name].values[np.ix_(order, order)], cmap="viridis", vmin=0, vmax=largest)
        note = f"alignment {float(runs[ALIGNED[name]].mean()):.2f}" if name in ALIGNED else ""
        if name == "gram":
            whole = where(risk, teacher_scale=scale, protocol="linear_transfer")
            left = 2 * whole["pretrained_loss"] / whole["target_variance"]  # the loss is half of the mean square
            note += f"\nsource risk, μ = 0: {float(left.mean()):.1%} of its variance"
        ax.set(xticks=[], yticks=[], title=f"a: {GRAMS[name]}" if ax is axes[0] else GRAMS[name], xlabel=note)
        if name == "initial_gram":
            ax.set_ylabel(f"teacher scale {scale:g}")
        ax.grid(False)
    fig.colorbar(image, ax=list(axes), label="kernel k(x, x')", shrink=0.8)


def _scratch(axes, scratch):
    """Risk from scratch with its power law, and the exponent between neighbouring n and from each n on."""
    risk, exponent = axes
    table = scratch[["risk_final"]].to_dataframe().pivot_table("risk_final", "seed", "samples")
    own = {"color": panels.COLORS["single_task"], "marker": "o"}
    panels.band(risk, table.columns, *panels.means(table), "from scratch", **own)
    law, sizes = power_law.fit(table, SMALLEST), sorted(table)
    fine = np.array([SMALLEST, sizes[-1]])
    risk.plot(fine, law(fine), "k--", linewidth=1, label="power law")
    text = f"ν = {law.exponent:.2f} ({law.low:.2f}–{law.high:.2f}), n ≥ {SMALLEST:g}"
    risk.text(0.05, 0.06, text, transform=risk.transAxes, fontsize="small")
    risk.set(yscale="log", xlabel="target samples n", ylabel="risk / target variance")
    layout.plain_decades(risk.yaxis)
    local, windows = power_law.local_exponents(table), {n: power_law.fit(table, n) for n in sizes[:-1]}
    between, onwards = (np.transpose([(one.exponent, one.low, one.high) for one in laws.values()])
                        for laws in (local, windows))  # fmt: skip
    panels.points(exponent, list(local), between, "between neighbouring n", ms=4, linestyle="", **own)
    panels.band(exponent, list(windows), *onwards, "fitted from n on", color="#009E73", linewidth=1.2)
    exponent.axhline(PUBLISHED, color="0.5", linewidth=1, linestyle=":", label=f"published {PUBLISHED:g}")
    exponent.set(xlabel="target samples n", ylabel="exponent ν of the risk")
    for ax in axes:
        layout.name_ticks(ax, sizes, 2)
    return law


def _map(ax, runs, outside, law):
    """Mean transferability by n and μ, where that of every readout changes its sign, and the n at which the power law
    falls to the least risk of the features."""
    ways = [way for way in BOUNDARIES if way in panels.values(runs, "readout")]
    maps = {way: gains(runs, way).pivot_table("transferability", "ablated", "samples") for way in ways}
    square = maps[READOUT]
    middle, rows = np.log2(square.columns.to_numpy(dtype=float)), np.arange(len(square))
    image = panels.gain_map(ax, middle, rows, square.values, CUT)
    for way in ways:
        found = maps[way].apply(boundary, axis=1).to_numpy()
        found = np.log2(np.where(found > 0, found, np.inf))  # without end where there is none, and not seen
        label = f"found, {panels.name(runs, 'readout', way)}"
        ax.plot(found, rows, BOUNDARIES[way], marker="x", ms=4, color="k", linewidth=1.2, label=label)
    least = outside["least_risk"].groupby("ablated").mean().sel(ablated=square.index.to_numpy()).values
    predicted = np.log2(law.samples(np.maximum(least, np.finfo(float).tiny)))
    inside = (predicted >= middle[0] - 0.5) & (predicted <= middle[-1] + 0.5)
    ax.plot(predicted[inside], rows[inside], "o", mfc="0.7", mec="k", label="predicted boundary")
    ax.set_xticks(middle, [f"{n:g}" for n in square.columns])
    ax.set_xlabel("target samples n")
    ax.set(yticks=rows, yticklabels=[f"{mu:g}" for mu in square.index], ylabel="ablated share μ")
    return image
