"""What of the gain by rescaling convolutional networks is due to which weights, to the learning rate and to the length
of training: controls of Fig. 7 of feature reuse."""

import matplotlib.pyplot as plt
import numpy as np

from carryover.claims.convnets import by_task
from carryover.figures.drawing import convnet, layout, panels
from carryover.runs import chosen, where

RESCALE = 0.5  # factor that is compared with no rescaling


def draw(data, p):
    """Panels a–c. Roles: `risk` and `trajectory` of one experiment, whose networks were finetuned with the factor on
    parts of their weights and at several learning rates."""
    risk, trajectory = (where(data[role], samples=p.samples) for role in ("risk", "trajectory"))
    fig, (left, middle, right) = plt.subplots(1, 3, figsize=(11.5, 4.4), width_ratios=(1.1, 0.8, 1.1))
    _parts(left, risk, p)
    _learning_rates(middle, where(risk, protocol="finetuning", rescaled="all"))
    _training(right, where(trajectory, learning_rate=p.learning_rate, rescaled="all"))
    notes = f"n = {p.samples}", convnet.units(risk), convnet.INTERVALS, "c: ended runs keep their last value"
    return layout.finish(fig, p.title, *notes, *convnet.crossed(fig))


def _parts(ax, risk, p):
    """Panel a: gain by what the factor is on, and by the learning rate."""
    tuned, scratch = (where(risk, protocol=protocol) for protocol in ("finetuning", "single_task"))
    usual = {"learning_rate": p.learning_rate}
    parts = panels.values(tuned.isel(run=chosen(tuned, rescale=RESCALE, **usual)), "rescaled")
    kinds = [(f"PT+FT, {panels.name(risk, 'rescaled', part)}", tuned, {"rescaled": part, **usual}) for part in parts]
    kinds += [(f"PT+FT, all weights,\nlearning rate {rate:g}", tuned, {"learning_rate": rate})
              for rate in panels.values(tuned, "learning_rate")[::-1] if rate != p.learning_rate]  # fmt: skip
    kinds.append(("STL, all weights", scratch, usual))
    rows = {label: (convnet.gain(runs, RESCALE, **which), where(runs, rescale=RESCALE, **which), "o")
            for label, runs, which in kinds}  # fmt: skip
    convnet.gain_rows(ax, rows, f"gain by the factor {RESCALE:g} (percentage points, paired)")
    ax.set_title("a  Gain by what is rescaled")


def _learning_rates(ax, tuned):
    """Panel b: accuracy of finetuning against the learning rate, with and without the factor."""
    rates = panels.values(tuned, "learning_rate")
    for factor, runs, color in panels.colored(tuned, "rescale"):
        if factor in (RESCALE, 1.0):
            by_rate = [where(runs, learning_rate=rate) for rate in rates]
            tables, x = [convnet.accuracy(part) for part in by_rate], np.array(rates) * (1.03 if factor == 1 else 0.97)
            label = _label(tuned, "finetuning", factor)
            convnet.points(ax, x, tables, label, convnet.PERCENT, by_rate, color=color)
    layout.name_ticks(ax, rates)
    ax.set(xlabel="learning rate", ylabel=convnet.ACCURACY, title="b  PT+FT by learning rate")


def _training(ax, runs):
    """Panel c: mean accuracy at every step at which a run was looked at, by factor, and its interval at the last."""
    factors = panels.values(runs, "rescale")
    for protocol, style in (("finetuning", "-"), ("single_task", "--")):
        for factor, color in zip(factors, panels.colors("rescale", factors), strict=True):
            if not chosen(runs, protocol=protocol, rescale=factor).any():
                continue
            shown = where(runs, protocol=protocol, rescale=factor)
            steps = np.rint(shown["time"].values / shown["learning_rate"].values[:, None])
            grid = np.unique(steps[np.isfinite(steps)])
            accuracies = 100 * (1 - shown["risk_curve"].values)
            curves = [_at(grid, *curve) for curve in zip(steps, accuracies, strict=True)]
            shown = shown.drop_dims("checkpoint")
            tables = [by_task(shown.assign(accuracy=("run", values)), "accuracy") for values in np.transpose(curves)]
            means, label = [np.nanmean(accuracies) for accuracies in tables], _label(runs, protocol, factor)
            ax.plot(grid, means, color=color, linestyle=style, label=label)
            convnet.points(ax, grid[-1:], tables[-1:], None, convnet.PERCENT, color=color)
    ax.set(xscale="log", xlabel="steps of gradient descent", ylabel=convnet.ACCURACY)
    ax.set_title("c  Accuracy along training")
    layout.plain_decades(ax.xaxis)


def _label(runs, protocol, factor):
    return panels.name(runs, "protocol", protocol) + (f", rescaled by {factor:g}" if factor != 1 else ", as it is")


def _at(grid, steps, values):
    """A curve at common steps: between two checkpoints along their logarithm, after its end its last value."""
    known = np.isfinite(steps)
    return np.interp(np.log(grid), np.log(steps[known]), values[known])
