"""Linear transfer of ReLU networks in the mean-field scaling ("Features are fate", Fig. 3): what pretraining makes of
the features, and where transfer beats training from scratch."""

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import TwoSlopeNorm

from carryover.analysis import power_law
from carryover.analysis.transferability import averages, normalised, transferability
from carryover.config.parameters import parameter
from carryover.drawing import panels

GRAMS = {"initial_gram": "before", "gram": "pretrained", "source_gram": "source's units"}


@dataclass(frozen=True, kw_only=True)
class Parameters:
    title: str = parameter("Rich pretraining leaves the source's features, and transfer helps until scratch training "
                           "gets below what these leave out", "what is seen")  # fmt: skip
    ablated: float = parameter(0.5, "fraction of ablated units of the kernels that are shown", minimum=0, maximum=1)
    smallest: int = parameter(64, "fewest samples that the power law is fitted to", minimum=1)


def draw(data, p):
    """Roles: `risk`, `gram` and `out_of_rkhs` of an experiment of the family mean_field."""
    risk = normalised(data["risk"])
    scales = panels.values(risk, "teacher_scale")
    fig = plt.figure(figsize=(14.5, 3.3 * len(scales) + 1.0))
    norm = TwoSlopeNorm(0.0, -0.5, 0.5)
    axes = fig.subplots(len(scales), 6, squeeze=False, width_ratios=(0.7, 0.7, 0.7, 1.1, 1.1, 1.3))
    for row, scale in zip(axes, scales, strict=True):
        roles = (risk, data["gram"], data["out_of_rkhs"])
        runs, gram, outside = (panels.where(role, teacher_scale=scale) for role in roles)
        _kernels(row[:3], panels.where(gram, ablated=p.ablated))
        law = _scratch(row[3], runs, p.smallest)
        _outside(row[4], outside)
        image = _map(row[5], runs, outside, law, norm)
        row[0].set_ylabel(f"teacher scale {scale:g}\n")
    for ax, label in zip(axes[0, 3:], ("b: from scratch", "c: left out by the features", "d: transferability"),
                         strict=True):  # fmt: skip
        ax.set_title(label)
    fig.colorbar(image, ax=list(axes[:, 5]), label="share of the target's power, cut at ±0.5")
    drawn = f"a: kernels of one seed, μ = {p.ablated:g}, with their mean alignment; b, c: {panels.SPREAD}"
    return panels.finished(fig, p.title, panels.seeds_in_words(risk), drawn, columns=6)


def _kernels(axes, gram):
    """Kernels of the first seed, each on its own scale, and the alignment of the network's with the source's units."""
    one = gram.isel(run=0)
    order = np.argsort(np.linalg.eigh(one["source_gram"].values)[1][:, -2])  # alike inputs beside each other
    for ax, (name, label) in zip(axes, GRAMS.items(), strict=True):
        ax.imshow(one[name].values[np.ix_(order, order)], cmap="viridis")
        aligned = {"gram": "alignment", "initial_gram": "initial_alignment"}.get(name)
        mean = f"\nalignment {float(gram[aligned].mean()):.2f}" if aligned else ""
        ax.set(xticks=[], yticks=[], title=f"a: {label}" if name == "initial_gram" else label, xlabel=mean.strip())
        ax.grid(False)


def _scratch(ax, runs, smallest):
    scratch = panels.where(runs, protocol="single_task")
    panels.spread(ax, scratch, "risk_final", "samples", "from scratch", color=panels.color("single_task"))
    table = scratch[["risk_final"]].to_dataframe().pivot_table("risk_final", "seed", "samples")
    law = power_law.fit(table[[n for n in table if n >= smallest]])
    fine = np.array([smallest, table.columns.max()])
    ax.plot(fine, law(fine), "k--", linewidth=1, label="power law")
    ax.text(
        0.05, 0.06, f"ν = {law.exponent:.2f} ({law.low:.2f}-{law.high:.2f})", transform=ax.transAxes, fontsize="small"
    )
    ax.set(yscale="log", xlabel="target samples n", ylabel="risk / target power")
    panels.log_samples(ax, list(table.columns))
    return law


def _outside(ax, outside):
    for name, label, color in (
        ("initial_out_of_rkhs", "features before pretraining", "0.6"),
        ("out_of_rkhs", "pretrained features", panels.color("finetuning")),
    ):
        panels.spread(ax, outside, name, "ablated", label, color=color)
    ax.set(xlabel="ablated share μ of the target's units", ylabel="out-of-RKHS norm² / target power", ylim=(0, None))


def _map(ax, runs, outside, law, norm):
    """Mean transferability by n and μ, with the n at which the power law falls to what the features leave out."""
    table = averages(transferability(runs, "linear_transfer"), ("ablated", "samples"))
    square = table.pivot(index="ablated", columns="samples", values="mean")
    middle = np.log2(square.columns.to_numpy(dtype=float))
    image = ax.pcolormesh(middle, np.arange(len(square)), square.values, cmap="RdBu", norm=norm)
    left_out = outside["out_of_rkhs"].groupby("ablated").mean()
    predicted = np.log2(law.samples(left_out.sel(ablated=square.index.to_numpy()).values))
    inside = (predicted >= middle[0] - 0.5) & (predicted <= middle[-1] + 0.5)
    ax.plot(predicted[inside], np.arange(len(square))[inside], "o", mfc="0.7", mec="k", label="predicted boundary")
    ax.set(xticks=middle, xticklabels=[f"{n:g}" for n in square.columns], xlabel="target samples n")
    ax.set(yticks=np.arange(len(square)), yticklabels=[f"{mu:g}" for mu in square.index], ylabel="ablated share μ")
    ax.grid(False)
    return image
