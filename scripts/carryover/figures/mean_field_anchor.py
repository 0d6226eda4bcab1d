"""Pretraining between lazy and rich ("Features are fate", Fig. 9): transferability by the penalty that keeps the
features near their initial ones."""

import matplotlib.pyplot as plt
import numpy as np

from carryover.claims.support.transferability import by_anchor, gains, leave_one_out_choice
from carryover.figures.drawing import layout, panels
from carryover.runs import where

FREE, CHOSEN, INITIAL = "#CC79A7", "#0072B2", "0.45"  # rich in pink and the best in blue, as in the paper; lazy in grey
READOUT = "zero"  # how the readout of panel a was trained
WAYS = {"zero": ("#332288", -0.06), "pretrained": ("#DDCC77", 0.06), "least_squares": ("#117733", 0.0)}
"""Colours of the ways to train the readout, and how far their bars stand apart, in decades."""
FEATURES = {"alignment": ("c: pretrained features", "#D55E00"), "initial_alignment": ("c: before pretraining", "0.6")}
LOOK = {"marker": "o", "ms": 4, "linewidth": 1.2}


def draw(data, p):
    """Roles: `risk` and `gram` of an experiment of the family mean_field with several anchors, 0 and infinity."""
    risk, gram = data["risk"], data["gram"]
    tables = by_anchor(gains(risk, READOUT))
    between = {anchor: table for anchor, table in tables.items() if 0 < anchor < np.inf}
    fig, (gain, mean, aligned) = plt.subplots(1, 3, figsize=(13.5, 4.2), width_ratios=(1.3, 1.2, 1))
    for number, table in enumerate(between.values()):
        label = None if number else "a: other λ"
        gain.plot(table.columns, table.mean(), color="0.8", linewidth=0.8, zorder=1, label=label)
    ends = {"a: λ = 0, rich": (tables[0.0], FREE, 0.97),
            "a: best λ between them": (leave_one_out_choice(between), CHOSEN, 1.0),
            "a: λ = ∞, initial features": (tables[np.inf], INITIAL, 1.03)}  # fmt: skip
    for label, (table, color, factor) in ends.items():
        panels.points(gain, table.columns.to_numpy() * factor, panels.means(table), label, color=color, **LOOK)
    layout.name_ticks(gain, sorted(tables[0.0].columns), 2)
    gain.set(xlabel="target samples n", ylabel="transferability / target variance")
    gain.set_title(f"a: readout by {panels.name(risk, 'readout', READOUT)}")

    # On the axes of b and c, 0 and infinity stand a decade beside the logarithms of the other anchors.
    places = [np.log10(anchor) for anchor in between]
    places = np.array([min(places) - 1, *places, max(places) + 1])
    for way in [way for way in WAYS if way in panels.values(risk, "readout")]:
        color, apart = WAYS[way]
        by_seed = {anchor: table.mean(axis=1) for anchor, table in by_anchor(gains(risk, way)).items()}
        label = f"b: {panels.name(risk, 'readout', way)}"
        panels.points(mean, places + apart, panels.means(by_seed), label, color=color, **LOOK)
    frame = gram[[*FEATURES]].to_dataframe().reset_index(drop=True).assign(anchor=gram["anchor"].values)
    for name, (label, color) in FEATURES.items():
        by_seed = {anchor: rows[name] for anchor, rows in frame.groupby("anchor")}
        panels.points(aligned, places, panels.means(by_seed), label, color=color, **LOOK)
    powers = [f"{anchor:g}" if float(round(np.log10(anchor), 9)).is_integer() else "" for anchor in between]
    for ax in (mean, aligned):
        ax.set_xticks(places, ["0", *powers, "∞"])
        ax.set_xlabel("penalty λ on the distance from the start")
    for ax in (gain, mean):
        ax.axhline(0, color="0.6", linewidth=0.6)
    mean.set_yscale("symlog", linthresh=0.2, linscale=1.5)
    mean.set(ylabel="mean transferability over n", title="b: by how the readout is trained")
    aligned.set(ylabel="alignment with the source's kernel", title="c: features")
    mu = float(where(risk, protocol="linear_transfer")["ablated"].values[0])
    notes = (
        f"μ = {mu:g}, {panels.seeds_in_words(risk)}: means with 95 % intervals",
        "a: the best λ of each seed is that of the largest mean gain of all other seeds",
        "b: linear between ±0.2, logarithmic beyond",
    )
    return layout.finish(fig, p.title, *notes)
