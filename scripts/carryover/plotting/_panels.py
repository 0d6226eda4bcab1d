"""What the figures share: names of the field, one colour per protocol, selections of runs, curves with their spread."""

import matplotlib.pyplot as plt
import numpy as np

from carryover.errors import UserError

NAMES = {
    "single_task": "STL",
    "multi_task": "MTL",
    "finetuning": "PT+FT",
    "single_task_probe": "STL (LP)",
    "finetuning_probe": "PT+FT (LP)",
}
COLORS = dict(zip(NAMES, ("#0072B2", "#009E73", "#D55E00", "#56B4E9", "#E69F00"), strict=True))
LABELS = {
    "samples": "main-task samples n",
    "overlap": "overlap",
    "main_features": "main features",
    "rescale": "rescaling",
    "protocol": "",
    "solver": "solver",
    "risk_final": "risk at the end of training",
    "risk_best": "smallest risk along training",
}
SPREAD = "line: median over seeds, band: their range"


def name(coordinate, value):
    """How a value of a coordinate is written: 'PT+FT', 'overlap 0.5'."""
    if coordinate == "protocol":
        return NAMES.get(str(value), str(value))
    number = f"{value:g}" if isinstance(value, float | int | np.number) else str(value)
    return f"{LABELS.get(coordinate, coordinate)} {number}"


def where(data, **chosen):
    """The runs of a dataset at which coordinates have the given values; UserError where there are none."""
    keep = np.ones(data.sizes["run"], dtype=bool)
    for coordinate, value in chosen.items():
        if coordinate not in data.coords:
            raise UserError(f"runs have no coordinate {coordinate}; they have {', '.join(sorted(data.coords))}.")
        found = data[coordinate].values
        try:
            keep &= found == type(found[0])(value)
        except ValueError:
            raise UserError(f"{coordinate}={value} names no value of {coordinate}, which is a number.") from None
    if not keep.any():
        asked = ", ".join(f"{k}={v}" for k, v in chosen.items())
        raise UserError(f"no run has {asked}; see the options of this figure in the configuration.")
    return data.isel(run=keep)


def conditions(words):
    """{'rescale': '1.0'} from ('rescale=1.0',); UserError where a word is no condition."""
    pairs = [word.partition("=") for word in words]
    if wrong := [name for name, equals, _ in pairs if not equals]:
        raise UserError(f"{wrong[0]} is no condition; write coordinate=value.")
    return {name: value for name, _, value in pairs}


def values(data, coordinate):
    """Distinct values of a coordinate in the order of the field: protocols as named above, numbers rising."""
    found = np.unique(data[coordinate].values)
    if coordinate == "protocol":
        return [protocol for protocol in NAMES if protocol in found]
    return list(found)


def colors(coordinate, found):
    """A colour for each value: fixed for protocols, along a scale for anything ordered."""
    if coordinate == "protocol":
        return [COLORS[value] for value in found]
    return list(plt.get_cmap("viridis")(np.linspace(0.0, 0.85, len(found))))


def spread(ax, data, quantity, along, label=None, **style):
    """Median over seeds of a quantity along a coordinate of the runs, with the seeds' range as a band."""
    table = data[[quantity]].to_dataframe()
    seeds = table.groupby(along)[quantity]
    middle, low, high = seeds.median(), seeds.min(), seeds.max()
    (line,) = ax.plot(middle.index, middle, marker="o", label=label, **style)
    ax.fill_between(middle.index, low, high, color=line.get_color(), alpha=0.18, linewidth=0)
    return line


def log_samples(ax, samples):
    """A base-2 axis of sample sizes that names each."""
    ax.set_xscale("log", base=2)
    ax.set_xticks(samples, [f"{n:g}" for n in samples])
    ax.minorticks_off()


def seeds_in_words(data):
    return f"{len(np.unique(data['seed']))} seeds"


def legend(figure, columns=6):
    """One legend below the figure, with every label once, whichever panel has it."""
    found = {}
    for ax in figure.axes:
        found |= {label: handle for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    figure.legend(found.values(), found.keys(), loc="outside lower center", ncols=columns)
