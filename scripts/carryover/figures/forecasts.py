"""Forecasts of gains next to the gains that training then gave."""

import matplotlib.pyplot as plt
import numpy as np

from carryover.analysis.forecasts import KINDS, transfers
from carryover.config import plugins
from carryover.figures.drawing import layout
from carryover.figures.titled import Titled

COLOURS = ("#332288", "#88CCEE", "#44AA99", "#DDCC77", "#CC6677", "#AA4499", "#117733", "#882255")
MARKERS = ("o", "s", "D", "^", "v", "P", "X", "*")
TICKS = (0.5, 1.0, 2.0, 4.0)  # gains, log₁₀: the scale is linear up to the first, and ends at one of them


@plugins.figure()
def forecast_gain(data, p: Titled):
    """Gain after training against its forecast, a panel for linear transfer and one for finetuning if there are some.

    Roles: transfers of families, as comparisons.forecasts makes them, of which the reported half is drawn. Markers are
    filled where the forecast decides.
    """
    table = transfers(data)
    table = table[table["half"] == 1].sample(frac=1, random_state=0)  # random order: no family hides another
    families = sorted(table["family"].unique())
    kinds = {kind: tuned for kind, tuned in KINDS.items() if (table["tuned"] == tuned).any()}
    largest = float(table[["predicted", "gain"]].abs().to_numpy().max())
    end = next((tick for tick in TICKS if tick >= largest), TICKS[-1])
    ticks = [sign * tick for sign in (-1, 1) for tick in TICKS if tick <= end]
    size = (4.4 * len(kinds) + 0.8, 5.0)
    fig, axes = plt.subplots(1, len(kinds), figsize=size, sharex=True, sharey=True, squeeze=False)
    for ax, (kind, tuned) in zip(axes[0], kinds.items(), strict=True):
        # Grey quadrants: the gain has the sign of its forecast.
        ax.fill_between([-end, 0], -end, 0, color="0.94", linewidth=0)
        ax.fill_between([0, end], 0, end, color="0.94", linewidth=0)
        ax.plot([-end, end], [-end, end], color="0.5", linewidth=0.8)
        known = table[table["tuned"] == tuned]
        for family, colour, marker in zip(families, COLOURS, MARKERS, strict=False):
            own = known[known["family"] == family]
            for decided, face in ((False, "none"), (True, colour)):
                part = own[own["decided"] == decided]
                x, y = (part[name].clip(-end, end) for name in ("predicted", "gain"))
                label = family if decided else None
                ax.scatter(x, y, 13, marker=marker, facecolors=face, edgecolors=colour, linewidths=0.6, label=label,
                           clip_on=False)  # fmt: skip
        decided = known[known["decided"]]
        right = (np.sign(decided["predicted"]) == np.sign(decided["gain"])).mean()
        ax.set_title(f"{kind}: {len(decided)} of {len(known)} decided, {right:.0%} of these right")
        for scale in (ax.set_xscale, ax.set_yscale):
            scale("symlog", linthresh=TICKS[0], linscale=0.8)
        names = [f"{tick:g}".replace("-", "−") for tick in [0, *ticks]]
        ax.set_xticks([0, *ticks], names)
        ax.set_yticks([0, *ticks], names)
        ax.minorticks_off()
        ax.set_axisbelow(True)
        ax.set(xlim=(-end, end), ylim=(-end, end))
        ax.set_xlabel("forecast of the gain before training (log₁₀ of the ratio of errors)")
    axes[0, 0].set_ylabel("gain after training (log₁₀)")
    notes = "filled: decided; grey: the sign is as forecast" + "; gains beyond 10⁴ stand at the edges" * (largest > end)
    return layout.finish(fig, p.title, notes)
