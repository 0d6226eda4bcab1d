"""Pretraining between lazy and rich ("Features are fate", Fig. 9): transferability by the penalty that keeps the
features near their initial ones."""

from dataclasses import dataclass

import matplotlib.pyplot as plt

from carryover.analysis.transferability import normalised, transferability
from carryover.config.parameters import parameter
from carryover.drawing import panels


@dataclass(frozen=True, kw_only=True)
class Parameters:
    title: str = parameter("Features that were held near their start transfer better to a target of new ones",
                           "what is seen")  # fmt: skip


def draw(data, p):
    """Roles: `risk` and `gram` of an experiment of the family mean_field with several anchors."""
    risk = normalised(data["risk"])
    runs = transferability(risk, "linear_transfer")
    fig, (gain, aligned) = plt.subplots(1, 2, figsize=(9.2, 4.0), width_ratios=(1.6, 1))
    anchors = sorted(runs["anchor"].unique())
    for anchor, color in zip(anchors, panels.colors("anchor", anchors), strict=True):
        rows = runs[runs["anchor"] == anchor].groupby(["seed", "samples"])["transferability"].mean().groupby("samples")
        middle, style = rows.median(), {"marker": "o", "ms": 4, "color": color}
        panels.band(gain, middle.index, middle, rows.min(), rows.max(), f"λ = {anchor:g}", **style)
    gain.axhline(0, color="0.6", linewidth=0.6)
    panels.log_samples(gain, sorted(runs["samples"].unique()))
    gain.set(xlabel="target samples n", ylabel="transferability / target power", title="a: linear transfer")
    gain.set_ylim(bottom=max(gain.get_ylim()[0], -1.0))  # one bad fit to few samples would hide the rest
    for name, label, color in (("alignment", "pretrained", "#D55E00"), ("initial_alignment", "before", "0.6")):
        panels.spread(aligned, data["gram"], name, "anchor", label, color=color)
    aligned.set_xscale("symlog", linthresh=min(anchor for anchor in anchors if anchor > 0))
    aligned.set(xlabel="penalty λ on the distance from the start", ylabel="alignment with the source's kernel")
    aligned.set_title("b: features")
    mu = float(panels.where(risk, protocol="linear_transfer")["ablated"].values[0])
    return panels.finished(fig, p.title, f"μ = {mu:g}, {panels.seeds_in_words(risk)}", panels.SPREAD)
