"""Whether conclusions of "Finetuning with linear teachers" hang on what the paper leaves open: the number of samples
and the part of the target that the source does not have."""

from dataclasses import dataclass

import matplotlib.pyplot as plt

from carryover.config.parameters import parameter
from carryover.drawing import panels


@dataclass(frozen=True, kw_only=True)
class Parameters:
    title: str = parameter("Depth helps stretched targets at any n; scaled targets cost more from some n on",
                           "what is seen")  # fmt: skip
    depth: int = parameter(5, "layers that are compared with one", minimum=2)
    scaled_depth: int = parameter(7, "layers of which source or target is scaled", minimum=1)


def draw(data, p):
    """Roles: `stretch`, exact limits over stretches, rests, depths and samples; `scale`, over norms of both tasks."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(9.2, 3.9))
    stretched = panels.where(data["stretch"], solver="exact")
    largest = panels.values(stretched, "stretch")[-1]
    for deviation, runs, color in panels.colored(panels.where(stretched, stretch=largest), "deviation"):
        _ratio(left, runs, {"depth": 1}, {"depth": p.depth}, f"rest {deviation:g}", color)
    left.set_title(f"a: risk of 1 layer over that of {p.depth}, α = {largest:g}")
    scaled = panels.where(data["scale"], depth=p.scaled_depth)
    norms = panels.values(scaled, "target_norm")[1:]
    for norm, color in zip(norms, panels.colors("norm", norms), strict=True):
        target, source = {"target_norm": norm, "source_norm": 1.0}, {"target_norm": 1.0, "source_norm": norm}
        _ratio(right, scaled, target, source, f"norm {norm:g}", color)
    right.set_title(f"b: target scaled over source scaled, L = {p.scaled_depth}")
    for ax in (left, right):
        ax.axhline(1, color="0.6", linewidth=0.6)
        ax.set(yscale="log", xlabel="samples n", ylabel="ratio of risks")
    return panels.finished(fig, p.title, panels.seeds_in_words(stretched), panels.SPREAD)


def _ratio(ax, runs, above, below, label, color):
    """Ratio of the risks of two kinds of runs, seed by seed, against the number of samples."""
    tables = (panels.where(runs, **kind)[["risk_final"]].to_dataframe() for kind in (above, below))
    over, under = (table.pivot(index="seed", columns="samples", values="risk_final") for table in tables)
    ratio = over / under
    style = {"marker": "o", "ms": 4, "color": color}
    panels.band(ax, ratio.columns, ratio.median(), ratio.min(), ratio.max(), label, **style)
